#pragma once

#include <span>

#include "scenario/scenario.h"
#include "schedules/results/results.h"

namespace stepcast::schedules {

/// What a measurement of the step counts that is written down as software.reported_memory says, of the kind that
/// measured.memory_is names. `stages`: of one GPU of each, first to last; none: nothing.
Bytes reported_memory(const Scenario& scenario, std::span<const MemoryUse> stages);

}  // namespace stepcast::schedules
