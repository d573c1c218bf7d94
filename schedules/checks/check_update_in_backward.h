#pragma once

#include <vector>

#include "scenario/problem.h"
#include "scenario/scenario.h"

namespace stepcast::schedules {

/// Of training.update_in_backward: what needs a weight's gradient after backward has made it.
void check_update_in_backward(const Scenario& scenario, std::vector<Problem>& out);

}  // namespace stepcast::schedules
