#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "cuda_runtime.h"

namespace {

/// Lacks a barrier: warps other than the first may read before it has written.
void racing_kernel(float* out, float value) {
  __shared__ float shared;
  if (threadIdx.x == 0) shared = value;
  out[threadIdx.x] = shared;
}

void ordered_kernel(float* out, float value) {
  __shared__ float shared;
  if (threadIdx.x == 0) shared = value;
  __syncthreads();
  out[threadIdx.x] = shared;
}

template <class Kernel>
bool all_read(Kernel kernel, float value, bool backwards) {
  std::vector<float> out(64);
  cudaLaunchConfig_t config;
  config.blockDim = dim3(64);
  emulator::run_backwards(backwards);
  EXPECT_EQ(cudaLaunchKernelEx(&config, kernel, out.data(), value), cudaSuccess);
  emulator::run_backwards(false);
  return std::all_of(out.begin(), out.end(), [&](float x) { return x == value; });
}

TEST(Emulator, ARaceComesOutInOneOrderOfTheThreads) {
  EXPECT_TRUE(all_read(racing_kernel, 1, false));
  EXPECT_FALSE(all_read(racing_kernel, 2, true));
  EXPECT_TRUE(all_read(ordered_kernel, 3, false));
  EXPECT_TRUE(all_read(ordered_kernel, 4, true));
}

TEST(Emulator, SharedMemoryBeyond48KiBIsAskedForFirst) {
  std::vector<float> out(32);
  cudaLaunchConfig_t config;
  config.blockDim = dim3(32);
  const auto launch = [&](std::size_t bytes) {
    config.dynamicSmemBytes = bytes;
    return cudaLaunchKernelEx(&config, ordered_kernel, out.data(), 1.0f);
  };
  const auto ask = [](int bytes) {
    return cudaFuncSetAttribute(ordered_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  };
  EXPECT_EQ(launch(48 << 10), cudaSuccess);
  EXPECT_EQ(launch((48 << 10) + 1), cudaErrorInvalidValue);
  EXPECT_EQ(ask(227 << 10), cudaSuccess);
  EXPECT_EQ(launch(227 << 10), cudaSuccess);
  EXPECT_EQ(ask(228 << 10), cudaErrorInvalidValue);
}

}  // namespace
