#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstring>

namespace stepcast::measure {

using bf16 = __nv_bfloat16;
using half = __half;

__host__ __device__ __forceinline__ float to_float(float x) { return x; }
__host__ __device__ __forceinline__ float to_float(bf16 x) { return __bfloat162float(x); }
__host__ __device__ __forceinline__ float to_float(half x) { return __half2float(x); }

template <class T>
__host__ __device__ __forceinline__ T from_float(float x);
template <>
__host__ __device__ __forceinline__ float from_float<float>(float x) {
  return x;
}
template <>
__host__ __device__ __forceinline__ bf16 from_float<bf16>(float x) {
  return __float2bfloat16(x);
}
template <>
__host__ __device__ __forceinline__ half from_float<half>(float x) {
  return __float2half(x);
}

/// Elements of T in the 16 bytes that a thread reads or writes at once.
template <class T>
inline constexpr int kPack = 16 / static_cast<int>(sizeof(T));

/// Reads 16 bytes as floats. Requires `from` on a multiple of 16 bytes.
template <class T>
__device__ __forceinline__ void load_pack(const T* from, float (&to)[kPack<T>]) {
  const uint4 raw = *reinterpret_cast<const uint4*>(from);
  T element[kPack<T>];
  std::memcpy(element, &raw, sizeof(raw));
#pragma unroll
  for (int i = 0; i < kPack<T>; ++i) to[i] = to_float(element[i]);
}

template <class T>
__device__ __forceinline__ void store_pack(T* to, const float (&from)[kPack<T>]) {
  T element[kPack<T>];
#pragma unroll
  for (int i = 0; i < kPack<T>; ++i) element[i] = from_float<T>(from[i]);
  uint4 raw;
  std::memcpy(&raw, element, sizeof(raw));
  *reinterpret_cast<uint4*>(to) = raw;
}

}  // namespace stepcast::measure
