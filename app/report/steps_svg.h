#pragma once

#include <cstdint>
#include <string>

#include "collectives/plan.h"

namespace stepcast::app {

/// The most transfers that a picture of a plan still shows apart.
inline constexpr std::size_t kMostDrawnTransfers = 400;

/// A collective's plan as an SVG page: a column for each rank (and for each switch that adds), time from top to bottom,
/// and an arrow for each transfer, in the round after the last of those that it waits for. `per_node`: so many ranks in
/// a row share a node. `title`: its first line. Requires kMostDrawnTransfers at most.
std::string steps_svg(const collectives::CollectivePlan& plan, std::uint32_t per_node, const std::string& title);

}  // namespace stepcast::app
