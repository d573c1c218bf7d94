#pragma once

#include <vector>

#include "scenario/problem.h"
#include "scenario/scenario.h"

namespace stepcast::schedules {

/// What keeps a scenario from being simulated transfer by transfer (`run --detail transfers`), whatever its size.
std::vector<Problem> check_transfers(const Scenario& scenario);

}  // namespace stepcast::schedules
