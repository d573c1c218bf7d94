#include "topology/host_path.h"

#include <algorithm>
#include <limits>

#include "topology/cluster_parts.h"
#include "topology/parallel_links.h"
#include "topology/router.h"

namespace stepcast::topology {
namespace {

Path path_over(const ClusterParts& parts, std::uint32_t node, const GraphRoute& route) {
  Path path;
  path.kind = route.cost.sockets > 0 ? PathKind::host : PathKind::pcie;
  path.bandwidth = {std::numeric_limits<double>::infinity()};
  for (const std::uint32_t place : route.edges) {
    const Edge& edge = parts.node.graph.edges[place];
    path.links.push_back(parts.node_link(node, place));
    path.loads.push_back(1);
    path.latency = path.latency + edge.latency;
    path.bandwidth = std::min(path.bandwidth, edge.bandwidth);
  }
  return path;
}

}  // namespace

std::optional<Path> host_path(const Cluster& cluster, GpuId from, GpuId to) {
  const ClusterParts& parts = cluster.parts();
  const GpuSlots::Slot here = parts.gpus.slot(from), there = parts.gpus.slot(to);
  if (here.node != there.node) return {};
  const std::uint32_t a = parts.node.gpus[here.gpu], b = parts.node.gpus[there.gpu];
  auto route = Router(parts.node.graph).routes_from(a, Wires::host_side)[b];
  if (!route || route->edges.empty()) return {};
  take_parallel_links(parts.node.graph, route->edges, here.gpu + there.gpu);
  return path_over(parts, here.node, *route);
}

std::optional<Path> host_path(const Cluster& cluster, GpuId gpu, ToHost direction) {
  const ClusterParts& parts = cluster.parts();
  const GpuSlots::Slot slot = parts.gpus.slot(gpu);
  const std::uint32_t end = parts.node.gpus[slot.gpu];
  const Graph& graph = parts.node.graph;
  const Router router(graph);
  std::vector<std::optional<GraphRoute>> from_gpu;
  if (direction == ToHost::yes) from_gpu = router.routes_from(end, Wires::host_side);
  std::optional<GraphRoute> nearest;
  for (std::uint32_t device = 0; device < graph.devices.size(); ++device) {
    if (graph.devices[device].kind != DeviceKind::cpu) continue;
    const auto route = direction == ToHost::yes ? from_gpu[device] : router.routes_from(device, Wires::host_side)[end];
    if (route && route->cost.sockets == 0 && (!nearest || route->cost < nearest->cost)) nearest = route;
  }
  if (!nearest) return {};
  return path_over(parts, slot.node, *nearest);
}

}  // namespace stepcast::topology
