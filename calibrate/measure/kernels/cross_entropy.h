#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "calibrate/measure/kernels/embedding.h"

namespace stepcast::measure {

/// Of each row of logits (this GPU's part of the vocabulary): log of the sum of exponentials, and the target's logit (0
/// where another GPU holds it). Columns in multiples of 16 bytes. T: float or bf16.
template <class T>
void cross_entropy_forward(const T* logits, const std::int32_t* targets, TablePart part, float* log_sum, float* target,
                           std::int64_t rows, cudaStream_t stream);

/// From what each of `parts` GPUs found (all_log_sum, all_target: parts x rows, `stride` floats from one part to the
/// next) the log of the whole sum, and loss += sum over rows of (log sum - target) / rows.
void cross_entropy_combine(const float* all_log_sum, const float* all_target, int parts, std::int64_t stride,
                           float* log_sum, float* loss, std::int64_t rows, cudaStream_t stream);

/// dlogits = (softmax - one at the target) scale. May be in place.
template <class T>
void cross_entropy_backward(const T* logits, const std::int32_t* targets, TablePart part, const float* log_sum,
                            T* dlogits, float scale, std::int64_t rows, cudaStream_t stream);

}  // namespace stepcast::measure
