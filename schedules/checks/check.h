#pragma once

#include <vector>

#include "scenario/problem.h"
#include "scenario/scenario.h"

namespace stepcast::schedules {

/// Every contradiction between keys, in the order of the keys; empty: the scenario can run.
std::vector<Problem> check(const Scenario& scenario);

/// Of those, the ones that neither the schedule, nor the layers of each stage, nor the data-parallel state has a part
/// in: scenarios that differ in these alone share them.
std::vector<Problem> check_layer_split(const Scenario& scenario);

/// All others. Requires check_layer_split() to be empty.
std::vector<Problem> check_schedule(const Scenario& scenario);

}  // namespace stepcast::schedules
