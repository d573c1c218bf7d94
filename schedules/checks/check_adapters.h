#pragma once

#include <vector>

#include "scenario/problem.h"
#include "scenario/scenario.h"

namespace stepcast::schedules {

/// Of adapters (scenario/lora.h): what they stand beside, and what they are not built with.
void check_adapters(const Scenario& scenario, std::vector<Problem>& out);

}  // namespace stepcast::schedules
