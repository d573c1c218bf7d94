#include "calibrate/measure/kernels/activation.h"

#include "calibrate/measure/kernels/element.h"
#include "calibrate/measure/kernels/launch.h"

namespace stepcast::measure {
namespace {

constexpr unsigned kThreads = 256;

/// Pack of this thread, in elements.
template <class T>
__device__ __forceinline__ std::int64_t my_pack() {
  return (static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) * kPack<T>;
}

constexpr float kRoot = 0.7978845608028654f, kCube = 0.044715f;  // sqrt(2 / pi)

__device__ __forceinline__ float sigmoid(float x) { return 1.0f / (1.0f + __expf(-x)); }

/// 1/2 (1 + tanh(u)) is sigmoid(2 u).
__device__ __forceinline__ float gelu_share(float x) { return sigmoid(2.0f * kRoot * (x + kCube * x * x * x)); }

template <class T>
__global__ void gelu_kernel(const T* __restrict__ x, T* __restrict__ y, std::int64_t elements) {
  const std::int64_t at = my_pack<T>();
  if (at >= elements) return;
  float v[kPack<T>];
  load_pack(x + at, v);
#pragma unroll
  for (int i = 0; i < kPack<T>; ++i) v[i] *= gelu_share(v[i]);
  store_pack(y + at, v);
}

template <class T>
__global__ void gelu_backward_kernel(const T* __restrict__ x, const T* __restrict__ dy, T* __restrict__ dx,
                                     std::int64_t elements) {
  const std::int64_t at = my_pack<T>();
  if (at >= elements) return;
  float v[kPack<T>], g[kPack<T>];
  load_pack(x + at, v);
  load_pack(dy + at, g);
#pragma unroll
  for (int i = 0; i < kPack<T>; ++i) {
    const float s = gelu_share(v[i]), slope = 2.0f * kRoot * (1.0f + 3.0f * kCube * v[i] * v[i]);
    g[i] *= s + v[i] * s * (1.0f - s) * slope;
  }
  store_pack(dx + at, g);
}

template <class T>
__global__ void swiglu_kernel(const T* __restrict__ x, T* __restrict__ y, std::int64_t elements, std::int64_t columns) {
  const std::int64_t at = my_pack<T>();
  if (at >= elements) return;
  const T* const gate_at = x + at / columns * 2 * columns + at % columns;
  float gate[kPack<T>], up[kPack<T>];
  load_pack(gate_at, gate);
  load_pack(gate_at + columns, up);
#pragma unroll
  for (int i = 0; i < kPack<T>; ++i) up[i] *= gate[i] * sigmoid(gate[i]);
  store_pack(y + at, up);
}

template <class T>
__global__ void swiglu_backward_kernel(const T* __restrict__ x, const T* __restrict__ dy, T* __restrict__ dx,
                                       std::int64_t elements, std::int64_t columns) {
  const std::int64_t at = my_pack<T>();
  if (at >= elements) return;
  const std::int64_t gate_at = at / columns * 2 * columns + at % columns;
  float gate[kPack<T>], up[kPack<T>], g[kPack<T>];
  load_pack(x + gate_at, gate);
  load_pack(x + gate_at + columns, up);
  load_pack(dy + at, g);
#pragma unroll
  for (int i = 0; i < kPack<T>; ++i) {
    const float s = sigmoid(gate[i]), d = g[i];
    g[i] = d * up[i] * s * (1.0f + gate[i] * (1.0f - s));
    up[i] = d * gate[i] * s;
  }
  store_pack(dx + gate_at, g);
  store_pack(dx + gate_at + columns, up);
}

template <class T>
dim3 packs_of(std::int64_t elements) {
  if (elements % kPack<T> != 0) throw std::logic_error(std::to_string(elements) + " elements");
  return grid_of(blocks_for(elements / kPack<T>, kThreads));
}

}  // namespace

template <class T>
void gelu_forward(const T* x, T* y, std::int64_t elements, cudaStream_t stream) {
  launch("gelu_forward", gelu_kernel<T>, packs_of<T>(elements), kThreads, 0, stream, x, y, elements);
}

template <class T>
void gelu_backward(const T* x, const T* dy, T* dx, std::int64_t elements, cudaStream_t stream) {
  launch("gelu_backward", gelu_backward_kernel<T>, packs_of<T>(elements), kThreads, 0, stream, x, dy, dx, elements);
}

template <class T>
void swiglu_forward(const T* x, T* y, std::int64_t rows, std::int64_t columns, cudaStream_t stream) {
  if (columns % kPack<T> != 0) throw std::logic_error("SwiGLU of " + std::to_string(columns) + " columns");
  launch("swiglu_forward", swiglu_kernel<T>, packs_of<T>(rows * columns), kThreads, 0, stream, x, y, rows * columns,
         columns);
}

template <class T>
void swiglu_backward(const T* x, const T* dy, T* dx, std::int64_t rows, std::int64_t columns, cudaStream_t stream) {
  if (columns % kPack<T> != 0) throw std::logic_error("SwiGLU of " + std::to_string(columns) + " columns");
  launch("swiglu_backward", swiglu_backward_kernel<T>, packs_of<T>(rows * columns), kThreads, 0, stream, x, dy, dx,
         rows * columns, columns);
}

#define STEPCAST_ACTIVATION_OF(T)                                                                \
  template void gelu_forward(const T*, T*, std::int64_t, cudaStream_t);                          \
  template void gelu_backward(const T*, const T*, T*, std::int64_t, cudaStream_t);               \
  template void swiglu_forward(const T*, T*, std::int64_t, std::int64_t, cudaStream_t);          \
  template void swiglu_backward(const T*, const T*, T*, std::int64_t, std::int64_t, cudaStream_t)
STEPCAST_ACTIVATION_OF(float);
STEPCAST_ACTIVATION_OF(bf16);

}  // namespace stepcast::measure
