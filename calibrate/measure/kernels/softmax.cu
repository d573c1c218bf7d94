#include "calibrate/measure/kernels/softmax.h"

#include "calibrate/measure/kernels/block.h"
#include "calibrate/measure/kernels/launch.h"

namespace stepcast::measure {
namespace {

template <class T>
__global__ void __launch_bounds__(kRowThreads)
    forward_kernel(const T* __restrict__ x, T* __restrict__ y, int columns) {
  const std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * columns;
  Row<T> row;
  row.load(x + at, columns, -INFINITY);
  float most = -INFINITY;
#pragma unroll
  for (int p = 0; p < Row<T>::kPacks; ++p) {
#pragma unroll
    for (int i = 0; i < kPack<T>; ++i) most = fmaxf(most, row.x[p][i]);
  }
  most = across_block<JoinByMaximum>(most);
  float sum = 0.0f;
#pragma unroll
  for (int p = 0; p < Row<T>::kPacks; ++p) {
#pragma unroll
    for (int i = 0; i < kPack<T>; ++i) {
      row.x[p][i] = __expf(row.x[p][i] - most);
      sum += row.x[p][i];
    }
  }
  const float scale = 1.0f / across_block<JoinBySum>(sum);
#pragma unroll
  for (int p = 0; p < Row<T>::kPacks; ++p) {
#pragma unroll
    for (int i = 0; i < kPack<T>; ++i) row.x[p][i] *= scale;
  }
  row.store(y + at, columns);
}

template <class T>
__global__ void __launch_bounds__(kRowThreads)
    backward_kernel(const T* __restrict__ y, const T* __restrict__ dy, T* __restrict__ dx, int columns) {
  const std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * columns;
  Row<T> value, gradient;
  value.load(y + at, columns);
  gradient.load(dy + at, columns);
  float sum = 0.0f;
#pragma unroll
  for (int p = 0; p < Row<T>::kPacks; ++p) {
#pragma unroll
    for (int i = 0; i < kPack<T>; ++i) sum += value.x[p][i] * gradient.x[p][i];
  }
  sum = across_block<JoinBySum>(sum);
#pragma unroll
  for (int p = 0; p < Row<T>::kPacks; ++p) {
#pragma unroll
    for (int i = 0; i < kPack<T>; ++i) gradient.x[p][i] = value.x[p][i] * (gradient.x[p][i] - sum);
  }
  gradient.store(dx + at, columns);
}

}  // namespace

template <class T>
void softmax_forward(const T* x, T* y, std::int64_t rows, std::int64_t columns, cudaStream_t stream) {
  launch("softmax_forward", forward_kernel<T>, grid_of(rows), row_threads<T>(columns), 0, stream, x, y,
         static_cast<int>(columns));
}

template <class T>
void softmax_backward(const T* y, const T* dy, T* dx, std::int64_t rows, std::int64_t columns, cudaStream_t stream) {
  launch("softmax_backward", backward_kernel<T>, grid_of(rows), row_threads<T>(columns), 0, stream, y, dy, dx,
         static_cast<int>(columns));
}

#define STEPCAST_SOFTMAX_OF(T)                                                                    \
  template void softmax_forward(const T*, T*, std::int64_t, std::int64_t, cudaStream_t);          \
  template void softmax_backward(const T*, const T*, T*, std::int64_t, std::int64_t, cudaStream_t)
STEPCAST_SOFTMAX_OF(float);
STEPCAST_SOFTMAX_OF(bf16);

}  // namespace stepcast::measure
