#pragma once

#include <vector>

#include "collectives/timing/timing.h"
#include "schedules/results/results.h"
#include "schedules/step/step.h"

namespace stepcast::schedules {

/// Data ranks as workers of parameter servers that do not wait for all. Each one runs its micro-batches, sends its
/// gradients, the servers update, it reads parameters and goes on; with bounded staleness it reads them only once the
/// slowest is no more than `staleness` steps behind. Some steps of every worker are simulated on links and servers that
/// they share, begun at different times as they drift apart. What all of them together do in the steady state is the
/// answer: `step` becomes the time in which they make as many steps as there are workers, the first stage's parts
/// those of a mean step, `staleness` is filled. Returns the bytes that links carry in that time. Requires one stage.
std::vector<collectives::Timing::Load> run_asynchronously(Forecast& forecast, const StepInput& input);

}  // namespace stepcast::schedules
