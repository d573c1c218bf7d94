#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topology/cluster.h"

namespace stepcast::collectives {

/// Where the ranks of like communicators sit, each communicator's GPUs in order of their ids: how fast a collective is
/// does not depend on which rank is which, and libraries order rings and trees by place.
struct Placement {
  std::vector<std::vector<topology::GpuId>> groups;
  std::uint32_t ranks = 0;  ///< of each group
  std::uint32_t nodes = 1;  ///< of each group, if all use equally many GPUs on each of as many nodes; otherwise 1
};

/// Throws InputError for groups of different sizes, an empty group, a GPU that is twice in one group or that the
/// cluster does not have.
Placement place(const topology::Cluster& cluster, std::span<const std::vector<topology::GpuId>> groups);

}  // namespace stepcast::collectives
