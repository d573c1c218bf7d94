#pragma once

#include "models/layers/writer.h"

namespace stepcast::schedules {

/// The first half of a layer of gated DeltaNet (Yang, Kautz and Hatamizadeh 2024, arXiv 2412.06464, sec. 3): norm, one
/// multiply to queries, keys, values, gates and strengths; convolution; the delta rule, chunk by chunk; gated norm,
/// multiply back, residual. Kernels and what they keep are those of fla-org/flash-linear-attention
/// (fla/ops/gated_delta_rule/chunk.py, @bc3b101) as Megatron-Core calls them (megatron/core/ssm/gated_delta_net,
/// @d98e8a6), which copies each head of queries and keys to all heads of values that share it. States pass from chunk
/// to chunk in one kernel, each step of which waits for the one before it.
void delta_rule(Writer& writer);

}  // namespace stepcast::schedules
