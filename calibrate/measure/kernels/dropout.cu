#include "calibrate/measure/kernels/dropout.h"

#include "calibrate/measure/kernels/element.h"
#include "calibrate/measure/kernels/launch.h"

namespace stepcast::measure {
namespace {

constexpr unsigned kThreads = 256;

template <class T>
__device__ __forceinline__ std::int64_t my_pack() {
  return (static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) * kPack<T>;
}

/// The flags of a pack as one word of 4 or 8 bytes.
template <class T>
struct Flags {
  unsigned char kept[kPack<T>];
};

template <class T>
__global__ void forward_kernel(const T* __restrict__ x, const T* __restrict__ bias, const T* __restrict__ residual,
                               T* __restrict__ y, unsigned char* __restrict__ mask, std::int64_t elements,
                               std::int64_t columns, Dropout dropout) {
  const std::int64_t at = my_pack<T>();
  if (at >= elements) return;
  float v[kPack<T>], b[kPack<T>] = {}, r[kPack<T>];
  load_pack(x + at, v);
  if (bias != nullptr) load_pack(bias + at % columns, b);
  load_pack(residual + at, r);
  const float scale = 1.0f / (1.0f - dropout.probability);
  unsigned char flags[kPack<T>];
#pragma unroll
  for (int i = 0; i < kPack<T>; ++i) {
    flags[i] = kept(dropout, at + i) ? 1 : 0;
    r[i] += flags[i] != 0 ? (v[i] + b[i]) * scale : 0.0f;
  }
  store_pack(y + at, r);
#pragma unroll
  for (int i = 0; i < kPack<T>; i += 4) {
    const unsigned word = flags[i] | flags[i + 1] << 8 | flags[i + 2] << 16 | static_cast<unsigned>(flags[i + 3]) << 24;
    *reinterpret_cast<unsigned*>(mask + at + i) = word;
  }
}

template <class T>
__global__ void backward_kernel(const T* __restrict__ dy, const unsigned char* __restrict__ mask, T* __restrict__ dx,
                                std::int64_t elements, float scale) {
  const std::int64_t at = my_pack<T>();
  if (at >= elements) return;
  float g[kPack<T>];
  load_pack(dy + at, g);
#pragma unroll
  for (int i = 0; i < kPack<T>; i += 4) {
    const unsigned word = *reinterpret_cast<const unsigned*>(mask + at + i);
#pragma unroll
    for (int b = 0; b < 4; ++b) g[i + b] = (word >> 8 * b & 1u) != 0 ? g[i + b] * scale : 0.0f;
  }
  store_pack(dx + at, g);
}

constexpr unsigned kSumColumns = 32, kSumRows = 8;  // threads across packs of columns, and across rows

template <class T>
__global__ void column_sum_kernel(const T* __restrict__ dy, float* __restrict__ dbias, std::int64_t rows,
                                  std::int64_t columns) {
  __shared__ float part[kSumRows][kSumColumns * kPack<T>];
  const unsigned across = threadIdx.x % kSumColumns, down = threadIdx.x / kSumColumns;
  const std::int64_t column = (static_cast<std::int64_t>(blockIdx.x) * kSumColumns + across) * kPack<T>;
  float sum[kPack<T>] = {};
  if (column < columns) {
    for (std::int64_t r = static_cast<std::int64_t>(blockIdx.y) * kSumRows + down; r < rows; r += gridDim.y * kSumRows) {
      float v[kPack<T>];
      load_pack(dy + r * columns + column, v);
#pragma unroll
      for (int i = 0; i < kPack<T>; ++i) sum[i] += v[i];
    }
  }
#pragma unroll
  for (int i = 0; i < kPack<T>; ++i) part[down][across * kPack<T> + i] = sum[i];
  __syncthreads();
  for (unsigned c = threadIdx.x; c < kSumColumns * kPack<T>; c += kSumColumns * kSumRows) {
    const std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * kSumColumns * kPack<T> + c;
    if (at >= columns) continue;
    float total = 0.0f;
    for (unsigned r = 0; r < kSumRows; ++r) total += part[r][c];
    atomicAdd(dbias + at, total);
  }
}

template <class T>
dim3 packs_of(std::int64_t rows, std::int64_t columns) {
  if (columns % kPack<T> != 0) throw std::logic_error("dropout of " + std::to_string(columns) + " columns");
  return grid_of(blocks_for(rows * columns / kPack<T>, kThreads));
}

}  // namespace

template <class T>
void bias_dropout_add(const T* x, const T* bias, const T* residual, T* y, unsigned char* mask, std::int64_t rows,
                      std::int64_t columns, const Dropout& dropout, cudaStream_t stream) {
  launch("bias_dropout_add", forward_kernel<T>, packs_of<T>(rows, columns), kThreads, 0, stream, x, bias, residual, y,
         mask, rows * columns, columns, dropout);
}

template <class T>
void bias_dropout_add_backward(const T* dy, const unsigned char* mask, T* dx, std::int64_t rows, std::int64_t columns,
                               float probability, cudaStream_t stream) {
  launch("bias_dropout_add_backward", backward_kernel<T>, packs_of<T>(rows, columns), kThreads, 0, stream, dy, mask, dx,
         rows * columns, 1.0f / (1.0f - probability));
}

template <class T>
void bias_backward(const T* dy, float* dbias, std::int64_t rows, std::int64_t columns, cudaStream_t stream) {
  if (columns % kPack<T> != 0) throw std::logic_error("bias of " + std::to_string(columns) + " columns");
  dim3 grid = grid_of(blocks_for(columns, kSumColumns * kPack<T>));
  grid.y = static_cast<unsigned>(std::min<std::int64_t>(blocks_for(rows, 16 * kSumRows), 128));
  launch("bias_backward", column_sum_kernel<T>, grid, kSumColumns * kSumRows, 0, stream, dy, dbias, rows, columns);
}

#define STEPCAST_DROPOUT_OF(T)                                                                                         \
  template void bias_dropout_add(const T*, const T*, const T*, T*, unsigned char*, std::int64_t, std::int64_t,         \
                                 const Dropout&, cudaStream_t);                                                        \
  template void bias_dropout_add_backward(const T*, const unsigned char*, T*, std::int64_t, std::int64_t, float,       \
                                          cudaStream_t);                                                               \
  template void bias_backward(const T*, float*, std::int64_t, std::int64_t, cudaStream_t)
STEPCAST_DROPOUT_OF(float);
STEPCAST_DROPOUT_OF(bf16);

}  // namespace stepcast::measure
