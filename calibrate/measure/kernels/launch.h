#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <stdexcept>
#include <string>

#include "calibrate/measure/kernels/check_cuda.h"

namespace stepcast::measure {

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
