#pragma once

#include <cstdint>
#include <span>

#include "collectives/link_view.h"
#include "topology/cluster.h"

namespace stepcast::collectives {

/// Communicators whose links are looked at when an algorithm needs it: its searches are for single machines.
inline constexpr std::uint32_t kMostViewed = 72;

/// The ways between the GPUs of a communicator, in rank order. O(ranks^2 hops).
LinkView view_links(const topology::Cluster& cluster, std::span<const topology::GpuId> group);

/// The ways between GPUs of one node, without `host_rate`; and those to and from others, GPU i's to abroad[i] (one on
/// another node each, or none at all), as far as they lie in the node.
LinkView view_node(const topology::Cluster& cluster, std::span<const topology::GpuId> gpus,
                   std::span<const topology::GpuId> abroad);

}  // namespace stepcast::collectives
