#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "topology/cluster.h"

namespace stepcast::topology {

/// A leaf switch that leads less upwards than the network cards in use below it could send.
struct NarrowLeaf {
  std::string name;
  Bandwidth below{}, up{};
};

/// Over which leaf switches the nodes in use are spread.
struct JobSpread {
  std::uint32_t nodes = 0;              ///< in use
  std::uint32_t leaves = 0;             ///< that they are on
  std::uint32_t of_leaves = 0;          ///< that have nodes at all
  std::uint32_t fewest = 0;             ///< that could hold so many nodes
  std::uint32_t narrow_leaves = 0;      ///< of `leaves`
  std::optional<NarrowLeaf> narrowest;  ///< the narrowest one, where traffic leaves leaf switches at all
};

/// Nothing where no fabric joins nodes.
std::optional<JobSpread> job_spread(const Cluster& cluster);

}  // namespace stepcast::topology
