#include "collectives/host_path.h"

#include <algorithm>
#include <limits>

#include "topology/cluster_impl.h"
#include "topology/router.h"

namespace stepcast::collectives {

std::optional<topology::Path> host_path(const topology::Cluster& cluster, topology::GpuId from, topology::GpuId to) {
  const topology::Cluster::Impl& impl = cluster.impl();
  const topology::Cluster::Impl::Slot here = impl.slot(from), there = impl.slot(to);
  if (here.node != there.node) return {};
  const std::uint32_t a = impl.node.gpus[here.gpu], b = impl.node.gpus[there.gpu];
  const topology::Router router(impl.node.graph);
  const auto route = router.routes_from(a, topology::Wires::host_side)[b];
  if (!route || route->edges.empty()) return {};
  topology::Path path;
  path.kind = route->cost.sockets > 0 ? topology::PathKind::host : topology::PathKind::pcie;
  path.bandwidth = {std::numeric_limits<double>::infinity()};
  for (const std::uint32_t place : route->edges) {
    const topology::Edge& edge = impl.node.graph.edges[place];
    path.links.push_back(impl.node_link(here.node, place));
    path.loads.push_back(1);
    path.latency = path.latency + edge.latency;
    path.bandwidth = std::min(path.bandwidth, edge.bandwidth);
  }
  return path;
}

}  // namespace stepcast::collectives
