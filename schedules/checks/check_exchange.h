#pragma once

#include <vector>

#include "scenario/problem.h"
#include "scenario/scenario.h"

namespace stepcast::schedules {

/// Adds the contradictions of who exchanges what when: servers, staleness, local steps, compression.
void check_exchange(const Scenario& scenario, std::vector<Problem>& out);

}  // namespace stepcast::schedules
