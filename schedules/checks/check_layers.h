#pragma once

#include <vector>

#include "scenario/problem.h"
#include "scenario/scenario.h"

namespace stepcast::schedules {

/// Of a transformer's layers: whether the tensor and context ranks can share their sizes, and what a model's variations
/// of its family go with.
void check_layers(const Scenario& scenario, std::vector<Problem>& out);

}  // namespace stepcast::schedules
