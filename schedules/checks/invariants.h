#pragma once

#include "schedules/results/results.h"

namespace stepcast::schedules {

/// What holds of every step that was simulated, whatever was asked: the parts of each stage's time add up to it, and no
/// link is busy for longer than it takes. Throws std::logic_error that names the stage or the link.
void check_invariants(const Forecast& forecast);

}  // namespace stepcast::schedules
