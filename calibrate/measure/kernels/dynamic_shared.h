#pragma once

#include <cuda_runtime.h>

namespace stepcast::measure {

/// The block's dynamic shared memory, on a multiple of 128 bytes.
__device__ __forceinline__ unsigned char* dynamic_shared() {
#ifdef __CUDACC__
  extern __shared__ __align__(128) unsigned char bytes[];
  return bytes;
#else  // tests run kernels on the CPU: tests/calibrate/measure/emulator
  return emulator::dynamic_shared();
#endif
}

}  // namespace stepcast::measure
