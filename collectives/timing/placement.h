#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "collectives/request.h"
#include "topology/cluster.h"

namespace stepcast::collectives {

/// Where the ranks of like communicators sit.
struct GroupPlacement {
  std::vector<std::vector<topology::GpuId>> groups;
  std::uint32_t ranks = 0;  ///< of each group
  std::uint32_t nodes = 1;  ///< of each group, if all use equally many GPUs on each of as many nodes; otherwise 1
};

/// With `sorted`, each communicator's GPUs in order of their ids: libraries order rings and trees by place, whichever
/// rank is which. Not for send_recv, whose direction counts.
/// Throws InputError for groups of different sizes, an empty group, a GPU that is twice in one group or that the
/// cluster does not have.
GroupPlacement place(const topology::Cluster& cluster, std::span<const std::vector<topology::GpuId>> groups,
                     bool sorted = true);

/// What algorithms are asked for on a placement, of no elements yet and without links: a channel for each chain
/// (chains.h); without chains one for each GPU of a node where there are several nodes, `most_channels` at most.
Request request_on(const topology::Cluster& cluster, const GroupPlacement& placement, Operation operation,
                   std::uint32_t most_channels, std::vector<std::vector<std::uint32_t>> chains);

}  // namespace stepcast::collectives
