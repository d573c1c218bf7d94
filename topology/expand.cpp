#include "topology/expand.h"

#include "topology/cluster_parts.h"

namespace stepcast::topology {

Expanded expand(const Cluster& cluster) {
  const ClusterParts& parts = cluster.parts();
  Expanded all;
  all.nodes = parts.gpus.nodes();
  all.devices_per_node = parts.devices_per_node();
  all.devices.reserve(parts.devices());
  all.links.reserve(cluster.links());
  for (std::uint32_t d = 0; d < parts.devices(); ++d) all.devices.push_back(parts.device(d));
  for (std::uint32_t i = 0; i < cluster.links(); ++i) {
    const ClusterParts::LinkEnds ends = parts.ends(LinkId{i});
    all.links.push_back({ends.from, ends.to, ends.kind, ends.bandwidth, ends.latency});
  }
  return all;
}

}  // namespace stepcast::topology
