#pragma once

#include <vector>

#include "scenario/problem.h"
#include "scenario/scenario.h"

namespace stepcast::schedules {

/// Contradictions between the keys below `run`.
void check_run(const Scenario& scenario, std::vector<Problem>& problems);

}  // namespace stepcast::schedules
