#pragma once

#include <vector>

#include "scenario/problem.h"
#include "scenario/scenario.h"

namespace stepcast::schedules {

/// Every contradiction between keys, in the order of the keys; empty: the scenario can run.
std::vector<Problem> check(const Scenario& scenario);

}  // namespace stepcast::schedules
