#pragma once

#include <cstdint>
#include <vector>

#include "scenario/problem.h"
#include "scenario/scenario.h"

namespace stepcast::schedules {

/// Adds the contradictions of the pipeline: its schedule, the order of its passes, the layers of its stages.
/// `micro_batches`: of a step; 0 where that is not known.
void check_pipeline(const Scenario& scenario, std::int64_t micro_batches, std::vector<Problem>& out);

}  // namespace stepcast::schedules
