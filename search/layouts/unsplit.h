#pragma once

#include <vector>

#include "scenario/problem.h"
#include "scenario/scenario.h"

namespace stepcast::search {

/// The scenario on one GPU, its micro-batches those of all data ranks together: the model whose layers are cut into
/// stages and whose operators get layouts.
schedules::Scenario unsplit(const schedules::Scenario& scenario);

/// What of a scenario layouts cannot be chosen for.
std::vector<schedules::Problem> layout_problems(const schedules::Scenario& scenario);

}  // namespace stepcast::search
