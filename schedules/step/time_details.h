#pragma once

#include "schedules/results/results.h"
#include "schedules/step/step.h"

namespace stepcast::schedules {

/// Fills the details of a stage's time, of which the parts are final. Compute is shared out in proportion to what the
/// stage's kernels of each class take alone, which is exact where no traffic slows them; exposed traffic inside layers
/// in proportion to what no kernels beside it hide, and where other traffic alone exposes it, to all of it among tensor
/// ranks. Gradients are what of exposed_data no parameters are.
void tell_details(const StepInput& in, std::uint32_t stage, TimeSplit& time);

}  // namespace stepcast::schedules
