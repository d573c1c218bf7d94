#include "topology/host_path.h"

#include <algorithm>
#include <limits>

#include "topology/cluster_impl.h"
#include "topology/router.h"

namespace stepcast::topology {
namespace {

Path path_over(const Cluster::Impl& impl, std::uint32_t node, const Route& route) {
  Path path;
  path.kind = route.cost.sockets > 0 ? PathKind::host : PathKind::pcie;
  path.bandwidth = {std::numeric_limits<double>::infinity()};
  for (const std::uint32_t place : route.edges) {
    const Edge& edge = impl.node.graph.edges[place];
    path.links.push_back(impl.node_link(node, place));
    path.loads.push_back(1);
    path.latency = path.latency + edge.latency;
    path.bandwidth = std::min(path.bandwidth, edge.bandwidth);
  }
  return path;
}

}  // namespace

std::optional<Path> host_path(const Cluster& cluster, GpuId from, GpuId to) {
  const Cluster::Impl& impl = cluster.impl();
  const GpuSlots::Slot here = impl.gpus.slot(from), there = impl.gpus.slot(to);
  if (here.node != there.node) return {};
  const std::uint32_t a = impl.node.gpus[here.gpu], b = impl.node.gpus[there.gpu];
  const auto route = Router(impl.node.graph).routes_from(a, Wires::host_side)[b];
  if (!route || route->edges.empty()) return {};
  return path_over(impl, here.node, *route);
}

std::optional<Path> host_path(const Cluster& cluster, GpuId gpu, ToHost direction) {
  const Cluster::Impl& impl = cluster.impl();
  const GpuSlots::Slot slot = impl.gpus.slot(gpu);
  const std::uint32_t end = impl.node.gpus[slot.gpu];
  const Graph& graph = impl.node.graph;
  const Router router(graph);
  std::vector<std::optional<Route>> from_gpu;
  if (direction == ToHost::yes) from_gpu = router.routes_from(end, Wires::host_side);
  std::optional<Route> nearest;
  for (std::uint32_t device = 0; device < graph.devices.size(); ++device) {
    if (graph.devices[device].kind != DeviceKind::cpu) continue;
    const auto route = direction == ToHost::yes ? from_gpu[device] : router.routes_from(device, Wires::host_side)[end];
    if (route && route->cost.sockets == 0 && (!nearest || route->cost < nearest->cost)) nearest = route;
  }
  if (!nearest) return {};
  return path_over(impl, slot.node, *nearest);
}

}  // namespace stepcast::topology
