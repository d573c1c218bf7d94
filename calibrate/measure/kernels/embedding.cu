#include "calibrate/measure/kernels/embedding.h"

#include "calibrate/measure/kernels/element.h"
#include "calibrate/measure/kernels/launch.h"

namespace stepcast::measure {
namespace {

constexpr unsigned kThreads = 128;

template <class T>
__global__ void gather_kernel(const T* __restrict__ table, TablePart part, const std::int32_t* __restrict__ ids,
                              T* __restrict__ y, bool add, int columns) {
  const std::int32_t row = ids[blockIdx.x] - part.first;
  const bool here = row >= 0 && row < part.count;
  T* const to = y + static_cast<std::int64_t>(blockIdx.x) * columns;
  for (int c = static_cast<int>(threadIdx.x) * kPack<T>; c < columns; c += kThreads * kPack<T>) {
    float v[kPack<T>] = {}, old[kPack<T>] = {};
    if (here) load_pack(table + static_cast<std::int64_t>(row) * columns + c, v);
    if (add) load_pack(to + c, old);
#pragma unroll
    for (int i = 0; i < kPack<T>; ++i) v[i] += old[i];
    store_pack(to + c, v);
  }
}

template <class T>
__global__ void scatter_kernel(const T* __restrict__ dy, const std::int32_t* __restrict__ ids,
                               float* __restrict__ gradient, TablePart part, int columns) {
  const std::int32_t row = ids[blockIdx.x] - part.first;
  if (row < 0 || row >= part.count) return;
  const T* const from = dy + static_cast<std::int64_t>(blockIdx.x) * columns;
  float* const to = gradient + static_cast<std::int64_t>(row) * columns;
  for (int c = static_cast<int>(threadIdx.x); c < columns; c += kThreads) atomicAdd(to + c, to_float(from[c]));
}

}  // namespace

template <class T>
void embedding_gather(const T* table, TablePart part, const std::int32_t* ids, T* y, bool add, std::int64_t rows,
                      std::int64_t columns, cudaStream_t stream) {
  if (columns % kPack<T> != 0) throw std::logic_error("embedding of " + std::to_string(columns) + " columns");
  launch("embedding_gather", gather_kernel<T>, grid_of(rows), kThreads, 0, stream, table, part, ids, y, add,
         static_cast<int>(columns));
}

template <class T>
void embedding_scatter(const T* dy, const std::int32_t* ids, float* gradient, TablePart part, std::int64_t rows,
                       std::int64_t columns, cudaStream_t stream) {
  launch("embedding_scatter", scatter_kernel<T>, grid_of(rows), kThreads, 0, stream, dy, ids, gradient, part,
         static_cast<int>(columns));
}

#define STEPCAST_EMBEDDING_OF(T)                                                                                     \
  template void embedding_gather(const T*, TablePart, const std::int32_t*, T*, bool, std::int64_t, std::int64_t,     \
                                 cudaStream_t);                                                                      \
  template void embedding_scatter(const T*, const std::int32_t*, float*, TablePart, std::int64_t, std::int64_t,      \
                                  cudaStream_t)
STEPCAST_EMBEDDING_OF(float);
STEPCAST_EMBEDDING_OF(bf16);

}  // namespace stepcast::measure
