#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace stepcast::measure {

/// Adam with decoupled weight decay (Kingma and Ba 2014, arXiv 1412.6980; Loshchilov and Hutter 2017, arXiv
/// 1711.05101).
struct Adam {
  float rate = 1e-4f, beta1 = 0.9f, beta2 = 0.95f, epsilon = 1e-8f, decay = 0.0f;
  int step = 1;                 ///< from 1
  float gradient_scale = 1.0f;  ///< gradients are multiplied by it first
};

/// One step on `elements` parameters. `master`: their fp32 copy, nullptr where T is float. `parameters` gets the
/// rounded result. T: float or bf16.
template <class T>
void adam_step(const Adam& adam, T* parameters, float* master, float* first, float* second, const float* gradient,
               std::int64_t elements, cudaStream_t stream);

}  // namespace stepcast::measure
