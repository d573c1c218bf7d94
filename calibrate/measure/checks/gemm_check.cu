#include "calibrate/measure/checks/gemm_check.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "calibrate/measure/device/buffer.h"
#include "calibrate/measure/kernels/launch.h"

namespace stepcast::measure {
namespace {

constexpr unsigned kThreads = 256;
constexpr int kSamples = 256;

__device__ std::uint64_t draw(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t z = seed * 0xd1342543de82ef95u + (index + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

__device__ float read(const void* from, Number number, std::int64_t i) {
  switch (number) {
    case Number::fp32:
    case Number::tf32: return static_cast<const float*>(from)[i];
    case Number::fp16: return __half2float(static_cast<const __half*>(from)[i]);
    case Number::bf16: return __bfloat162float(static_cast<const __nv_bfloat16*>(from)[i]);
    case Number::fp8: return static_cast<float>(static_cast<const __nv_fp8_e4m3*>(from)[i]);
  }
  return 0.0f;
}

__global__ void fill_kernel(Number number, void* to, std::int64_t elements, std::uint64_t seed) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= elements) return;
  const float x = static_cast<float>(draw(seed, static_cast<std::uint64_t>(i)) >> 40) * 0x1p-23f - 1.0f;
  switch (number) {
    case Number::fp32:
    case Number::tf32: static_cast<float*>(to)[i] = x; break;
    case Number::fp16: static_cast<__half*>(to)[i] = __float2half(x); break;
    case Number::bf16: static_cast<__nv_bfloat16*>(to)[i] = __float2bfloat16(x); break;
    case Number::fp8: static_cast<__nv_fp8_e4m3*>(to)[i] = __nv_fp8_e4m3(x); break;
  }
}

/// One block a sample: differences[block] = c - the sum of products.
__global__ void sample_kernel(CublasShape s, const void* a, const void* b, const void* c, double* differences) {
  __shared__ double part[kThreads];
  const std::uint64_t drawn = draw(7, blockIdx.x);
  const auto one = static_cast<std::int64_t>((drawn >> 48) % static_cast<std::uint64_t>(s.batch));
  const auto i = static_cast<std::int64_t>((drawn & 0xffffffu) % static_cast<std::uint64_t>(s.m));
  const auto j = static_cast<std::int64_t>((drawn >> 24 & 0xffffffu) % static_cast<std::uint64_t>(s.n));
  double sum = 0;
  for (std::int64_t k = threadIdx.x; k < s.k; k += blockDim.x) {
    const std::int64_t at_a = one * s.m * s.k + (s.transpose_a ? i * s.k + k : k * s.m + i);
    const std::int64_t at_b = one * s.k * s.n + (s.transpose_b ? k * s.n + j : j * s.k + k);
    sum += static_cast<double>(read(a, s.in, at_a)) * static_cast<double>(read(b, s.in, at_b));
  }
  part[threadIdx.x] = sum;
  __syncthreads();
  for (unsigned other = kThreads / 2; other > 0; other /= 2) {
    if (threadIdx.x < other) part[threadIdx.x] += part[threadIdx.x + other];
    __syncthreads();
  }
  if (threadIdx.x == 0)
    differences[blockIdx.x] = static_cast<double>(read(c, s.out, one * s.m * s.n + j * s.m + i)) - part[0];
}

}  // namespace

void fill_numbers(Number number, void* to, std::int64_t elements, std::uint64_t seed, cudaStream_t stream) {
  launch("fill_numbers", fill_kernel, grid_of(blocks_for(elements, kThreads)), kThreads, 0, stream, number, to,
         elements, seed);
}

double gemm_error(const CublasShape& shape, const void* a, const void* b, const void* c, cudaStream_t stream) {
  const Buffer<double> differences(kSamples);
  launch("gemm_error", sample_kernel, dim3(kSamples), kThreads, 0, stream, shape, a, b, c, differences.data());
  double most = 0;
  for (const double d : differences.values(stream)) most = std::isfinite(d) ? std::max(most, std::fabs(d)) : INFINITY;
  return most / (std::sqrt(static_cast<double>(shape.k)) / 3);
}

double gemm_tolerance(Number in) {
  switch (in) {
    case Number::fp32: return 1e-4;
    case Number::tf32: return 1e-2;   // operands of 11 bits
    case Number::fp16: return 1e-2;   // result of 11 bits, up to four spreads large
    case Number::bf16: return 4e-2;   // result of 8 bits
    case Number::fp8: return 6e-2;    // bf16 result; products are exact, sums may keep 14 bits
  }
  return 0;
}

}  // namespace stepcast::measure
