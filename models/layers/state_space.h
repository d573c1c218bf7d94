#pragma once

#include "models/layers/writer.h"

namespace stepcast::schedules {

/// The first half of a layer of Mamba-2 (Dao and Gu 2024, arXiv 2405.21060, sec. 6 and 7): norm, one multiply to gates,
/// inputs, what is added to the state by and read from it by, and steps; convolution; the scan, chunk by chunk by
/// multiplies; norm, multiply back, residual. Kernels and what they keep are those of state-spaces/mamba
/// (mamba_ssm/ops/triton/ssd_combined.py, @e9594ce) as Megatron-Core calls them (megatron/core/ssm/mamba_mixer.py,
/// @d98e8a6): forward keeps the first multiply's result, the scan's before and behind its gate and what enters the last
/// multiply; backward makes convolution, states and products of chunks again.
void state_space(Writer& writer);

}  // namespace stepcast::schedules
