#include "topology/job_spread.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <vector>

#include "topology/cluster_parts.h"

namespace stepcast::topology {
namespace {

using Leaves = std::set<std::uint32_t>;

Leaves leaves_of(const ClusterParts& parts, std::uint32_t node) {
  Leaves leaves;
  for (std::uint32_t nic = 0; nic < parts.node.nics.size(); ++nic) leaves.insert(parts.fabric->switch_of(node, nic));
  return leaves;
}

/// Leaf switches that hold `nodes` nodes when those with the most are taken first.
std::uint32_t fewest(const std::map<Leaves, std::uint32_t>& nodes_on, std::uint32_t nodes) {
  std::vector<std::pair<std::uint32_t, const Leaves*>> largest;
  for (const auto& [leaves, count] : nodes_on) largest.emplace_back(count, &leaves);
  std::ranges::stable_sort(largest, std::greater(), &std::pair<std::uint32_t, const Leaves*>::first);
  Leaves taken;
  std::uint32_t held = 0;
  for (const auto& [count, leaves] : largest) {
    if (held >= nodes) break;
    held += count;
    taken.insert(leaves->begin(), leaves->end());
  }
  return static_cast<std::uint32_t>(taken.size());
}

}  // namespace

std::optional<JobSpread> job_spread(const Cluster& cluster) {
  const ClusterParts& parts = cluster.parts();
  if (!parts.fabric || !parts.fabric->lists_nodes) return std::nullopt;
  std::map<Leaves, std::uint32_t> nodes_on;
  Leaves all, used;
  for (std::uint32_t node = 0; node < parts.gpus.nodes(); ++node) {
    const Leaves leaves = leaves_of(parts, node);
    all.insert(leaves.begin(), leaves.end());
    ++nodes_on[leaves];
  }
  std::vector<double> below(parts.fabric->switches), up(parts.fabric->switches);
  std::set<std::uint32_t> nodes;
  for (std::uint32_t gpu = 0; gpu < cluster.gpus(); ++gpu) nodes.insert(parts.gpus.slot(GpuId{gpu}).node);
  for (const std::uint32_t node : nodes) {
    for (std::uint32_t nic = 0; nic < parts.node.nics.size(); ++nic) {
      const std::uint32_t leaf = parts.fabric->switch_of(node, nic);
      used.insert(leaf);
      below[leaf] += parts.port.value;
    }
  }
  for (const FabricLink& link : parts.fabric->links) up[link.from] += link.bandwidth.value;
  const auto count = static_cast<std::uint32_t>(nodes.size());
  JobSpread out{count,
                static_cast<std::uint32_t>(used.size()),
                static_cast<std::uint32_t>(all.size()),
                fewest(nodes_on, count),
                0,
                std::nullopt};
  if (used.size() < 2) return out;
  constexpr double kRounding = 1e-9;
  for (const std::uint32_t leaf : used) {
    if (up[leaf] == 0 || below[leaf] <= up[leaf] * (1 + kRounding)) continue;
    ++out.narrow_leaves;
    if (!out.narrowest || below[leaf] / up[leaf] > out.narrowest->below / out.narrowest->up)
      out.narrowest = {parts.fabric->device(leaf).name, {below[leaf]}, {up[leaf]}};
  }
  return out;
}

}  // namespace stepcast::topology
