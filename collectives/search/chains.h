#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "collectives/search/chain_search.h"
#include "collectives/search/chain_searches.h"
#include "topology/cluster.h"

namespace stepcast::collectives {

/// Every step in the order of the indices goes through an NVSwitch.
bool behind_switches(const topology::Cluster& cluster, std::span<const topology::GpuId> gpus);

/// Where each GPU of a node would send to on another: to the one at the same place, if there is one.
std::vector<topology::GpuId> across(std::span<const topology::GpuId> here, std::span<const topology::GpuId> there);

/// The GPUs of each node, from a group in order of its ids.
std::vector<std::span<const topology::GpuId>> by_node(const topology::Cluster& cluster,
                                                      std::span<const topology::GpuId> group);

/// The chains (Request::chains) along which a library's rings and trees would walk this communicator, its GPUs in order
/// of their ids, `nodes` as in GroupPlacement: found by search (best_chains) where that is faster than the order of the
/// indices, or empty. NVSwitches make any order as good as any, and are not searched. Where GPUs are spread unevenly
/// over nodes, chains of all ranks: node after node, each in an order found for it, as many as move the most.
/// `searches`: what was found before.
std::vector<Chain> found_chains(const topology::Cluster& cluster, std::span<const topology::GpuId> group,
                                std::uint32_t nodes, ChainSearches& searches);

/// Numbers the GPUs of `groups` anew, but those of the first, so that all can walk `chains`: the chains of the first
/// group (found_chains), as places in a group. A group on other GPUs of its nodes may have fast links between other
/// places: if chains walk 0-1-3-2 and the second group is fast along its GPUs a-c-b-d, its places 0, 1, 3, 2 have to be
/// a, c, b, d, so the group becomes a, c, d, b. All nodes of a group are numbered alike. How: the first chain is laid
/// along each chain that is found for the group itself, from every start and both ways, and the fastest numbering wins,
/// if it is faster than the order of the ids. Takes groups in order of their ids, `nodes` as in GroupPlacement; groups
/// that are spread unevenly over nodes stay as they are.
void walk_alike(const topology::Cluster& cluster, std::vector<std::vector<topology::GpuId>>& groups,
                std::uint32_t nodes, std::span<const Chain> chains, ChainSearches& searches);

}  // namespace stepcast::collectives
