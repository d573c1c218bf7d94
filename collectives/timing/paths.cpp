#include "collectives/timing/paths.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <stdexcept>

#include "topology/host_path.h"

namespace stepcast::collectives {
namespace {

using topology::LinkId;
using topology::Path;

Path to_switch(const topology::Cluster& cluster, const Path& whole, bool up) {
  Path path;
  path.kind = whole.kind;
  const bool network = whole.kind == topology::PathKind::network;
  const auto on_network = [&](LinkId link) { return cluster.link_traits(link).kind == topology::LinkKind::network; };
  const auto first = std::ranges::find_if(whole.links, on_network) - whole.links.begin();
  const auto last =
      std::ranges::find_if(whole.links.rbegin(), whole.links.rend(), on_network).base() - whole.links.begin() - 1;
  for (std::size_t i = 0; i < whole.links.size(); ++i) {
    const LinkId link = whole.links[i];
    const auto place = static_cast<std::ptrdiff_t>(i);
    const bool part =
        network ? (up ? place <= first : place >= last)
                : (up ? cluster.link_source_kind(link) : cluster.link_target_kind(link)) == topology::DeviceKind::gpu;
    if (!part) continue;
    path.links.push_back(link);
    path.loads.push_back(whole.loads[i]);
    path.latency = path.latency + cluster.link_traits(link).latency;
  }
  return path;
}

}  // namespace

Path path_of(const CollectivePlan& plan, const Connection& connection, const topology::Cluster& cluster,
             const std::vector<topology::GpuId>& group, std::uint32_t gpus) {
  const auto ranks = static_cast<std::uint32_t>(group.size());
  const std::uint32_t source = index(connection.source), destination = index(connection.destination);
  const auto other = [&](std::uint32_t rank) {
    return group[plan.switches_at == SwitchesAt::nodes ? rank / gpus * gpus + (rank + 1) % gpus
                                                       : (rank + gpus) % ranks];
  };
  if (destination >= ranks) return to_switch(cluster, cluster.path(group[source], other(source)), true);
  if (source >= ranks) return to_switch(cluster, cluster.path(other(destination), group[destination]), false);
  if (!connection.host_side) return cluster.path(group[source], group[destination]);
  const std::optional<Path> path = topology::host_path(cluster, group[source], group[destination]);
  if (!path) throw std::logic_error("a host-side connection between GPUs that have none");
  return *path;
}

}  // namespace stepcast::collectives
