#include <algorithm>

#include "calibrate/measure/kernels/element.h"
#include "calibrate/measure/kernels/launch.h"
#include "calibrate/measure/kernels/stream.h"

namespace stepcast::measure {
namespace {

constexpr unsigned kThreads = 256;

__device__ __forceinline__ std::int64_t my_index() {
  return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

__global__ void copy_kernel(const float4* __restrict__ from, float4* __restrict__ to, std::int64_t packs) {
  const std::int64_t i = my_index();
  if (i < packs) to[i] = from[i];
}

__global__ void triad_kernel(const float4* __restrict__ from, const float4* __restrict__ other, float4* __restrict__ to,
                             std::int64_t packs) {
  const std::int64_t i = my_index();
  if (i >= packs) return;
  const float4 a = from[i], b = other[i];
  to[i] = float4{a.x + 3.0f * b.x, a.y + 3.0f * b.y, a.z + 3.0f * b.z, a.w + 3.0f * b.w};
}

__global__ void read_kernel(const float4* __restrict__ from, float* __restrict__ never, std::int64_t packs) {
  float sum = 0.0f;
  for (std::int64_t i = my_index(); i < packs; i += static_cast<std::int64_t>(gridDim.x) * blockDim.x) {
    const float4 a = from[i];
    sum += fabsf(a.x) + fabsf(a.y) + fabsf(a.z) + fabsf(a.w);
  }
  if (sum < 0.0f) *never = sum;  // keeps the compiler from leaving the reads out
}

__global__ void nothing_kernel() {}

/// splitmix64 (Steele et al. 2014) of seed and place.
__device__ __forceinline__ std::uint64_t draw(std::uint64_t seed, std::int64_t index) {
  std::uint64_t z = seed * 0xd1342543de82ef95u + (static_cast<std::uint64_t>(index) + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

template <class T>
__global__ void random_kernel(T* __restrict__ to, std::int64_t elements, float scale, std::uint64_t seed) {
  const std::int64_t i = my_index();
  if (i < elements) to[i] = from_float<T>(scale * (static_cast<float>(draw(seed, i) >> 40) * 0x1p-23f - 1.0f));
}

__global__ void random_part_kernel(float* __restrict__ to, std::int64_t elements, std::int64_t columns,
                                   std::int64_t first, std::int64_t whole_columns, float scale, std::uint64_t seed) {
  const std::int64_t i = my_index();
  if (i >= elements) return;
  const std::int64_t at = first + i / columns * whole_columns + i % columns;
  to[i] = scale * (static_cast<float>(draw(seed, at) >> 40) * 0x1p-23f - 1.0f);
}

__global__ void ids_kernel(std::int32_t* __restrict__ to, std::int64_t elements, std::int32_t below,
                           std::uint64_t seed) {
  const std::int64_t i = my_index();
  if (i < elements) to[i] = static_cast<std::int32_t>(draw(seed, i) % static_cast<std::uint64_t>(below));
}

__global__ void steps_kernel(float* __restrict__ to, std::int64_t elements, int start, int modulus) {
  const std::int64_t i = my_index();
  if (i < elements) to[i] = static_cast<float>((start + i) % modulus);
}

template <class T>
__global__ void value_kernel(T* __restrict__ to, std::int64_t elements, float value) {
  const std::int64_t i = my_index();
  if (i < elements) to[i] = from_float<T>(value);
}

template <class From, class To>
__global__ void convert_kernel(const From* __restrict__ from, To* __restrict__ to, std::int64_t elements) {
  const std::int64_t i = my_index();
  if (i < elements) to[i] = from_float<To>(to_float(from[i]));
}

dim3 grid_for(std::int64_t threads) { return grid_of(blocks_for(threads, kThreads)); }

const float4* packs(const float* at) { return reinterpret_cast<const float4*>(at); }
float4* packs(float* at) { return reinterpret_cast<float4*>(at); }

}  // namespace

void stream_copy(const float* from, float* to, std::int64_t elements, cudaStream_t stream) {
  launch("stream_copy", copy_kernel, grid_for(elements / 4), kThreads, 0, stream, packs(from), packs(to), elements / 4);
}

void stream_triad(const float* from, const float* other, float* to, std::int64_t elements, cudaStream_t stream) {
  launch("stream_triad", triad_kernel, grid_for(elements / 4), kThreads, 0, stream, packs(from), packs(other),
         packs(to), elements / 4);
}

void read_all(const float* from, float* never, std::int64_t elements, cudaStream_t stream) {
  launch("read_all", read_kernel, grid_for(std::min<std::int64_t>(elements / 4, std::int64_t{1} << 19)), kThreads, 0,
         stream, packs(from), never, elements / 4);
}

void nothing(cudaStream_t stream) { launch("nothing", nothing_kernel, dim3(1), 32, 0, stream); }

template <class T>
void fill_random(T* to, std::int64_t elements, float scale, std::uint64_t seed, cudaStream_t stream) {
  launch("fill_random", random_kernel<T>, grid_for(elements), kThreads, 0, stream, to, elements, scale, seed);
}

void fill_random_part(float* to, std::int64_t rows, std::int64_t columns, std::int64_t first,
                      std::int64_t whole_columns, float scale, std::uint64_t seed, cudaStream_t stream) {
  launch("fill_random_part", random_part_kernel, grid_for(rows * columns), kThreads, 0, stream, to, rows * columns,
         columns, first, whole_columns, scale, seed);
}

void fill_ids(std::int32_t* to, std::int64_t elements, std::int32_t below, std::uint64_t seed, cudaStream_t stream) {
  launch("fill_ids", ids_kernel, grid_for(elements), kThreads, 0, stream, to, elements, below, seed);
}

void fill_steps(float* to, std::int64_t elements, int start, int modulus, cudaStream_t stream) {
  launch("fill_steps", steps_kernel, grid_for(elements), kThreads, 0, stream, to, elements, start, modulus);
}

template <class T>
void fill_value(T* to, std::int64_t elements, float value, cudaStream_t stream) {
  launch("fill_value", value_kernel<T>, grid_for(elements), kThreads, 0, stream, to, elements, value);
}

template <class From, class To>
void convert(const From* from, To* to, std::int64_t elements, cudaStream_t stream) {
  launch("convert", convert_kernel<From, To>, grid_for(elements), kThreads, 0, stream, from, to, elements);
}

#define STEPCAST_FILL_OF(T)                                                        \
  template void fill_random(T*, std::int64_t, float, std::uint64_t, cudaStream_t); \
  template void fill_value(T*, std::int64_t, float, cudaStream_t)
STEPCAST_FILL_OF(float);
STEPCAST_FILL_OF(bf16);
STEPCAST_FILL_OF(half);
template void convert(const float*, bf16*, std::int64_t, cudaStream_t);
template void convert(const float*, half*, std::int64_t, cudaStream_t);
template void convert(const bf16*, float*, std::int64_t, cudaStream_t);

}  // namespace stepcast::measure
