#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "collectives/chain_search.h"
#include "topology/cluster.h"

namespace stepcast::collectives {

/// The chains (Request::chains) along which a library's rings and trees would walk this communicator, its GPUs in order
/// of their ids, `nodes` as in Placement: found by search (best_chains) where that is faster than the order of the
/// indices, or empty. NVSwitches make any order as good as any, and are not searched. Where GPUs are spread unevenly
/// over nodes, chains of all ranks: node after node, each in an order found for it, as many as the node that has most.
std::vector<Chain> found_chains(const topology::Cluster& cluster, std::span<const topology::GpuId> group,
                                std::uint32_t nodes);

}  // namespace stepcast::collectives
