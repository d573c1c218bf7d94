#pragma once

#include "models/layers/writer.h"

namespace stepcast::schedules {

/// Casts what the multiplies behind a norm read of it, `elements`, and its gradient back, where these are kernels.
void cast_for_multiplies(Writer& w, double elements);
/// Backward: casts the gradient of the residual stream for the half of a layer that adds to it.
void cast_gradient_of_branch(PassWriter& w);

}  // namespace stepcast::schedules
