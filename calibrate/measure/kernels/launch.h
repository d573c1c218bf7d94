#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <stdexcept>
#include <string>

namespace stepcast::measure {

/// Throws std::runtime_error naming the call, the GPU and the code, if `code` is not success.
inline void check_cuda(cudaError_t code, const char* call) {
  if (code == cudaSuccess) return;
  int device = -1;
  cudaGetDevice(&device);
  throw std::runtime_error(std::string(call) + " on GPU " + std::to_string(device) + ": " + cudaGetErrorString(code));
}

/// Starts a kernel. `shared`: bytes of dynamic shared memory.
template <class... Parameters, class... Arguments>
void launch(const char* name, void (*kernel)(Parameters...), dim3 grid, unsigned threads, std::size_t shared,
            cudaStream_t stream, Arguments... arguments) {
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = dim3(threads);
  config.dynamicSmemBytes = shared;
  config.stream = stream;
  check_cuda(cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...), name);
}

inline std::int64_t blocks_for(std::int64_t work, std::int64_t per_block) { return (work + per_block - 1) / per_block; }

/// A grid of one dimension. Requires at least one block.
inline dim3 grid_of(std::int64_t blocks) {
  if (blocks < 1 || blocks > 0x7fffffff) throw std::logic_error("a grid of " + std::to_string(blocks) + " blocks");
  return dim3(static_cast<unsigned>(blocks));
}

}  // namespace stepcast::measure
