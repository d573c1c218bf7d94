#include "topology/leaf_traffic.h"

#include <set>

#include "topology/cluster_parts.h"

namespace stepcast::topology {

bool stays_below_leaves(const Cluster& cluster) {
  const ClusterParts& parts = cluster.parts();
  if (!parts.fabric) return true;
  std::set<std::uint32_t> nodes;
  for (std::uint32_t gpu = 0; gpu < cluster.gpus(); ++gpu) nodes.insert(parts.gpus.slot(GpuId{gpu}).node);
  const auto cards = static_cast<std::uint32_t>(parts.node.nics.size());
  std::set<std::uint32_t> leaves;
  for (std::uint32_t nic = 0; nic < cards; ++nic) {
    if (!parts.fabric->rails) {
      for (const std::uint32_t node : nodes) leaves.insert(parts.fabric->switch_of(node, nic));
      continue;
    }
    for (const std::uint32_t node : nodes)
      if (parts.fabric->switch_of(node, nic) != parts.fabric->switch_of(*nodes.begin(), nic)) return false;
  }
  return leaves.size() < 2;
}

}  // namespace stepcast::topology
