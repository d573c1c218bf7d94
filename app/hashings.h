#pragma once

#include <cstdint>
#include <vector>

#include "scenario/cluster.h"

namespace stepcast::app {

/// Hashings that one command tries, at most.
inline constexpr std::uint32_t kMostHashings = 10'000;

/// The cluster with so many hashings of its fabric, from its own (cluster.fabric.seed) on; as it is where `seeds`
/// is 0, which is --seeds left out. Throws InputError with --seeds where none of its paths is drawn by a hash, so that
/// all would be alike.
std::vector<schedules::ClusterSpec> hashings(const schedules::ClusterSpec& cluster, std::uint32_t seeds);

}  // namespace stepcast::app
