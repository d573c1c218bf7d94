#pragma once

#include <cuda_runtime.h>

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

}  // namespace stepcast::measure
