#include "topology/host_path.h"

#include <algorithm>
#include <deque>

#include "topology/cluster_impl.h"

namespace stepcast::topology {

std::optional<Path> host_path(const Cluster& cluster, GpuId gpu, ToHost direction) {
  const Cluster::Impl& impl = cluster.impl();
  const Graph& graph = impl.node.graph;
  const Cluster::Impl::Slot slot = impl.slot(gpu);
  const std::uint32_t start = impl.node.gpus[slot.gpu];
  const bool out = direction == ToHost::yes;
  // Breadth first from the GPU, against the links' direction on the way back.
  constexpr std::uint32_t kUnseen = 0xffffffffu;
  std::vector<std::uint32_t> came_by(graph.devices.size(), kUnseen);
  std::deque<std::uint32_t> open{start};
  std::optional<std::uint32_t> cpu;
  while (!open.empty() && !cpu) {
    const std::uint32_t here = open.front();
    open.pop_front();
    for (std::uint32_t e = 0; e < graph.edges.size() && !cpu; ++e) {
      const Edge& edge = graph.edges[e];
      const std::uint32_t from = out ? edge.from : edge.to, to = out ? edge.to : edge.from;
      if (edge.kind != LinkKind::pcie || from != here || to == start || came_by[to] != kUnseen) continue;
      const DeviceKind kind = graph.devices[to].kind;
      if (kind != DeviceKind::pcie_switch && kind != DeviceKind::cpu) continue;
      came_by[to] = e;
      open.push_back(to);
      if (kind == DeviceKind::cpu) cpu = to;
    }
  }
  if (!cpu) return std::nullopt;
  Path path;
  path.kind = PathKind::host;
  for (std::uint32_t at = *cpu; at != start;) {
    const Edge& edge = graph.edges[came_by[at]];
    path.links.push_back(impl.node_link(slot.node, came_by[at]));
    path.loads.push_back(1);
    path.latency += edge.latency;
    path.bandwidth = path.links.size() == 1 ? edge.bandwidth : std::min(path.bandwidth, edge.bandwidth);
    at = out ? edge.from : edge.to;
  }
  if (out) std::ranges::reverse(path.links);
  return path;
}

}  // namespace stepcast::topology
