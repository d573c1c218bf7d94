#pragma once

#include "models/layers/writer.h"

namespace stepcast::schedules {

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
