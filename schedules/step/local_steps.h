#pragma once

#include <vector>

#include "schedules/results/results.h"
#include "schedules/step/step.h"

namespace stepcast::schedules {

/// Turns the forecast of the step that ends a round of local SGD into that of a mean step of the round. `last` is that
/// step's input. In the steps before it data ranks wait for nobody, so a round takes the largest of the ranks' sums of
/// step times, not the sum of the largest; with jitter every step is drawn and simulated anew: O(local_steps). Returns
/// for what share of the round each link is busy, where all traffic is lowered to its transfers; else nothing.
std::vector<double> average_round(Forecast& forecast, const StepInput& last);

}  // namespace stepcast::schedules
