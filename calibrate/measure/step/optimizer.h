#pragma once

#include <memory>
#include <vector>

#include "calibrate/measure/device/handles.h"
#include "calibrate/measure/kernels/adam.h"
#include "calibrate/measure/kernels/element.h"
#include "calibrate/measure/step/pool.h"

namespace stepcast::measure {

/// Adam over a rank's flat parameters: bf16 on the GPU, with fp32 copies and moments there or in host memory.
class AdamOptimizer {
 public:
  virtual ~AdamOptimizer() = default;
  /// `values`: of the parameters at the start, on the GPU.
  virtual void begin(const float* values, cudaStream_t stream) = 0;
  virtual void step(const Adam& adam, bf16* parameters, const float* gradient, cudaStream_t stream) = 0;
};

/// All of it in the GPU's memory, in one kernel.
std::unique_ptr<AdamOptimizer> gpu_optimizer(Pool& pool, std::int64_t elements);

/// ZeRO-Offload (Ren et al. 2021, arXiv 2101.06840): gradients go to the host as bf16, `threads` of its cores update,
/// new parameters come back; one after the other. step() waits for the stream.
std::unique_ptr<AdamOptimizer> host_optimizer(Pool& pool, std::int64_t elements, int threads);

}  // namespace stepcast::measure
