#include "topology/expand.h"

#include "topology/cluster_impl.h"

namespace stepcast::topology {

Expanded expand(const Cluster& cluster) {
  const Cluster::Impl& impl = cluster.impl();
  Expanded all;
  all.devices.reserve(impl.devices());
  all.links.reserve(cluster.links());
  for (std::uint32_t d = 0; d < impl.devices(); ++d) all.devices.push_back(impl.device(d));
  for (std::uint32_t i = 0; i < cluster.links(); ++i) {
    const Cluster::Impl::Ends ends = impl.ends(LinkId{i});
    all.links.push_back({ends.from, ends.to, ends.kind, ends.bandwidth, ends.latency});
  }
  return all;
}

}  // namespace stepcast::topology
