#pragma once

#include <span>
#include <vector>

#include "scenario/scenario.h"

namespace stepcast::calibrate {

/// Of the others, those with the row's GPU and software, the most alike first and at most `most`: near in the
/// logarithms of their sizes, a kind that only one of both has counts as a factor of two. Ties stand in the order
/// given.
std::vector<const schedules::Scenario*> neighbours(const schedules::Scenario& row,
                                                   std::span<const schedules::Scenario* const> others,
                                                   std::size_t most);

}  // namespace stepcast::calibrate
