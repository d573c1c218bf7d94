#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topology/cluster.h"

namespace stepcast::collectives {

/// Where the ranks of like communicators sit.
struct Placement {
  std::vector<std::vector<topology::GpuId>> groups;
  std::uint32_t ranks = 0;  ///< of each group
  std::uint32_t nodes = 1;  ///< of each group, if all use equally many GPUs on each of as many nodes; otherwise 1
};

/// With `sorted`, each communicator's GPUs in order of their ids: libraries order rings and trees by place, whichever
/// rank is which. Not for send_recv, whose direction counts.
/// Throws InputError for groups of different sizes, an empty group, a GPU that is twice in one group or that the
/// cluster does not have.
Placement place(const topology::Cluster& cluster, std::span<const std::vector<topology::GpuId>> groups,
                bool sorted = true);

}  // namespace stepcast::collectives
