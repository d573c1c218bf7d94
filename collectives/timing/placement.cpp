#include "collectives/timing/placement.h"

#include <algorithm>
#include <string>
#include <utility>

#include "sim/input_error.h"

namespace stepcast::collectives {
namespace {

/// Nodes of one group in order; 1 where they do not hold equally many of its GPUs.
std::uint32_t even_nodes(const topology::Cluster& cluster, const std::vector<topology::GpuId>& group) {
  std::vector<std::uint32_t> held;
  for (std::size_t i = 0; i < group.size(); ++i) {
    if (i == 0 || cluster.node_of(group[i]) != cluster.node_of(group[i - 1])) held.push_back(0);
    ++held.back();
  }
  const bool even = std::ranges::all_of(held, [&](std::uint32_t gpus) { return gpus == held.front(); });
  return even ? static_cast<std::uint32_t>(held.size()) : 1;
}

}  // namespace

GroupPlacement place(const topology::Cluster& cluster, std::span<const std::vector<topology::GpuId>> groups,
                     bool sorted) {
  GroupPlacement placement;
  placement.groups.assign(groups.begin(), groups.end());
  if (groups.empty() || groups.front().empty()) throw InputError("", "a collective needs at least one GPU");
  placement.ranks = static_cast<std::uint32_t>(groups.front().size());
  for (std::size_t g = 0; g < placement.groups.size(); ++g) {
    std::vector<topology::GpuId>& group = placement.groups[g];
    std::vector<topology::GpuId> in_order = group;
    std::ranges::sort(in_order);
    if (sorted) group = in_order;
    if (group.size() != placement.ranks) {
      throw InputError("", "concurrent groups are of one size: found " + std::to_string(placement.ranks) + " and " +
                               std::to_string(group.size()) + " GPUs");
    }
    const auto twice = std::ranges::adjacent_find(in_order);
    if (twice != in_order.end()) {
      throw InputError("", "GPU " + std::to_string(topology::index(*twice)) + " is twice in one group");
    }
    if (topology::index(in_order.back()) >= cluster.gpus()) {
      throw InputError("", "GPU " + std::to_string(topology::index(in_order.back())) + " of a cluster of " +
                               std::to_string(cluster.gpus()));
    }
    const std::uint32_t nodes = even_nodes(cluster, in_order);
    placement.nodes = g == 0 || placement.nodes == nodes ? nodes : 1;
  }
  return placement;
}

Request request_on(const topology::Cluster& cluster, const GroupPlacement& placement, Operation operation,
                   std::uint32_t most_channels, std::vector<std::vector<std::uint32_t>> chains) {
  Request request{.operation = operation, .ranks = placement.ranks, .nodes = placement.nodes};
  if (request.nodes > 1) request.channels = std::min(request.gpus(), most_channels);
  // Which GPUs of a node are which is not looked at: the wiring tells whether moving them along maps links onto links.
  if (placement.ranks == cluster.gpus()) request.row = cluster.torus_row();
  request.nvlink_sharp = cluster.nvlink_sharp();
  request.in_network_reduction = cluster.in_network_reduction();
  request.chains = std::move(chains);
  if (!request.chains.empty()) request.channels = static_cast<std::uint32_t>(request.chains.size());
  return request;
}

}  // namespace stepcast::collectives
