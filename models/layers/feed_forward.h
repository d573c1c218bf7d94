#pragma once

#include "models/layers/writer.h"

namespace stepcast::schedules {

/// SwiGLU behind clamps of the gate and of the rest, which are kernels of their own, as is what joins both again
/// (Megatron-Core, megatron/core/fusions/fused_bias_geglu.py as of core_v0.17.0: clamp, clamp, cat, and one compiled
/// kernel; backward has a kernel for each, and joins the halves' gradients). Keeps the clamped halves; `bytes`: of what
/// it makes.
void clamped_gate(Writer& writer, double bytes);

/// A feed-forward block of `inner` width on this tensor rank, between norm and residual: in, activation, out. `kept`:
/// bytes for each element of what enters its second multiply that backward keeps of it.
void feed_forward(Writer& writer, std::int64_t inner, double kept);

/// Its parts: columns of the multiply in front (gate and up), and what stands between the two multiplies.
std::int64_t feed_forward_columns(const Model& model, std::int64_t inner);
void activation(Writer& writer, std::int64_t inner);

/// Of a dense layer's block: the bytes of `kept`; and those that backward has at once, of gradients of its output, of
/// what enters its second multiply, and of what leaves its first.
double kept_of_second_input(const Scenario& scenario, const StackSizes& sizes);
double feed_forward_gradients(const Scenario& scenario, const StackSizes& sizes);

}  // namespace stepcast::schedules
