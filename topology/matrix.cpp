#include "topology/matrix.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <set>

#include "topology/cluster_parts.h"
#include "topology/maximum_flow.h"

namespace stepcast::topology {

namespace {

/// By the wires between two GPUs of one node.
std::string kind_of(const Graph& graph, const NodeRoute& route) {
  if (route.edges.empty()) return "X";
  std::uint32_t nvlinks = std::numeric_limits<std::uint32_t>::max(), switches = 0;
  bool nvlink = false, cpu = false, sockets = false;
  for (const std::uint32_t e : route.edges) {
    const Edge& edge = graph.edges[e];
    nvlink = nvlink || edge.kind == LinkKind::nvlink;
    nvlinks = std::min(nvlinks, edge.count);
    sockets = sockets || edge.kind == LinkKind::socket;
    cpu = cpu || graph.devices[edge.to].kind == DeviceKind::cpu;
    switches += graph.devices[edge.to].kind == DeviceKind::pcie_switch ? 1u : 0u;
  }
  if (nvlink) return "NV" + std::to_string(nvlinks);
  if (sockets) return "SYS";
  if (cpu) return switches > 0 ? "NODE" : "PHB";
  return switches > 1 ? "PXB" : "PIX";
}

std::uint32_t hops_of(const Path& path) {
  double hops = 0;
  for (const double load : path.loads) hops += load;
  return static_cast<std::uint32_t>(std::lround(hops));
}

/// Links that paths between the GPUs cross; all of them where there are several nodes.
std::vector<LinkId> links_in_use(const Cluster& cluster) {
  std::set<LinkId> used;
  if (cluster.nodes() > 1) {
    for (std::uint32_t l = 0; l < cluster.links(); ++l) used.insert(LinkId{l});
  } else {
    for (std::uint32_t a = 0; a < cluster.gpus(); ++a) {
      for (std::uint32_t b = 0; b < cluster.gpus(); ++b) {
        const Path path = cluster.path(GpuId{a}, GpuId{b});
        used.insert(path.links.begin(), path.links.end());
      }
    }
  }
  return {used.begin(), used.end()};
}

/// What can flow from the GPUs of one side to the others. A node all of whose GPUs send takes nothing in, and one all
/// of whose GPUs receive lets nothing out: nodes are no switches.
Bandwidth max_flow(const Cluster& cluster, const std::vector<LinkId>& links, const std::vector<bool>& senders) {
  const ClusterParts& parts = cluster.parts();
  const std::size_t source = parts.devices(), sink = source + 1;
  MaximumFlow flow(sink + 1);
  std::vector<bool> sends(parts.gpus.nodes()), receives(parts.gpus.nodes());
  for (std::uint32_t g = 0; g < cluster.gpus(); ++g)
    (senders[g] ? sends : receives)[parts.gpus.slot(GpuId{g}).node] = true;
  std::vector<double> out(parts.devices()), in(parts.devices());
  const std::size_t in_nodes = std::size_t{parts.gpus.nodes()} * parts.devices_per_node();
  for (const LinkId id : links) {
    const ClusterParts::LinkEnds ends = parts.ends(id);
    const bool up = ends.from < in_nodes && ends.to >= in_nodes, down = ends.from >= in_nodes && ends.to < in_nodes;
    if (up && !sends[ends.from / parts.devices_per_node()]) continue;
    if (down && !receives[ends.to / parts.devices_per_node()]) continue;
    flow.add(ends.from, ends.to, ends.bandwidth.value);
    out[ends.from] += ends.bandwidth.value;
    in[ends.to] += ends.bandwidth.value;
  }
  for (std::uint32_t g = 0; g < cluster.gpus(); ++g) {
    const GpuSlots::Slot slot = parts.gpus.slot(GpuId{g});
    const std::size_t device = std::size_t{slot.node} * parts.devices_per_node() + parts.node.gpus[slot.gpu];
    if (senders[g]) {
      flow.add(source, device, out[device]);
    } else {
      flow.add(device, sink, in[device]);
    }
  }
  return flow.run(source, sink);
}

/// What all GPUs of one node can send through its network cards, or receive.
Bandwidth node_rate(const ClusterParts& parts, bool sending) {
  const Graph& graph = parts.node.graph;
  const std::size_t gpus = graph.devices.size(), network = gpus + 1;
  MaximumFlow flow(network + 1);
  std::vector<double> rate(graph.devices.size());
  const auto add = [&](std::size_t from, std::size_t to, double bytes_per_second) {
    sending ? flow.add(from, to, bytes_per_second) : flow.add(to, from, bytes_per_second);
  };
  for (const Edge& edge : graph.edges) {
    flow.add(edge.from, edge.to, edge.bandwidth.value);
    rate[sending ? edge.from : edge.to] += edge.bandwidth.value;
  }
  for (const std::uint32_t gpu : parts.node.gpus) add(gpus, gpu, rate[gpu]);
  for (const std::uint32_t nic : parts.node.nics) add(nic, network, parts.port.value);
  return sending ? flow.run(gpus, network) : flow.run(network, gpus);
}

bool used_alike(const Cluster& cluster) {
  return cluster.nodes() > 1 && cluster.gpus_per_node() * cluster.nodes() == cluster.gpus();
}

}  // namespace

std::vector<Pair> pairs(const Cluster& cluster, std::uint32_t most) {
  const ClusterParts& parts = cluster.parts();
  // Without bounces: the wires themselves.
  const bool forwarding = parts.node.nvlink_forwarding;
  const NodeTemplate wires = make_node_template(parts.node.graph, {.pcie_p2p = true, .nvlink_forwarding = forwarding});
  const std::uint32_t shown = std::min(cluster.gpus(), most);
  std::vector<Pair> all;
  all.reserve(std::size_t{shown} * shown);
  for (std::uint32_t a = 0; a < shown; ++a) {
    for (std::uint32_t b = 0; b < shown; ++b) {
      const GpuSlots::Slot from = parts.gpus.slot(GpuId{a}), to = parts.gpus.slot(GpuId{b});
      const Path path = cluster.path(GpuId{a}, GpuId{b});
      all.push_back({from.node == to.node ? kind_of(wires.graph, wires.between(from.gpu, to.gpu)) : "NET",
                     path.bandwidth, path.latency, hops_of(path)});
    }
  }
  return all;
}

Bandwidth bisection(const Cluster& cluster) {
  constexpr std::uint32_t kMostToTryAll = 10;
  const std::uint32_t gpus = cluster.gpus();
  const std::uint32_t half = used_alike(cluster) ? cluster.nodes() / 2 * cluster.gpus_per_node() : gpus / 2;
  const std::vector<LinkId> links = links_in_use(cluster);
  std::vector<bool> senders(gpus);
  if (cluster.nodes() > 1 || gpus > kMostToTryAll) {
    std::fill_n(senders.begin(), half, true);
    return max_flow(cluster, links, senders);
  }
  Bandwidth least{std::numeric_limits<double>::infinity()};
  for (std::uint32_t set = 0; set < 1u << gpus; ++set) {
    if (static_cast<std::uint32_t>(std::popcount(set)) != half) continue;
    for (std::uint32_t g = 0; g < gpus; ++g) senders[g] = (set >> g & 1u) != 0;
    least = std::min(least, max_flow(cluster, links, senders));
  }
  return least;
}

std::optional<Bandwidth> bisection_in_closed_form(const Cluster& cluster) {
  const ClusterParts& parts = cluster.parts();
  if (!parts.fabric || parts.gpus.listed()) return {};
  const auto nics = static_cast<double>(parts.node.nics.size());
  return parts.fabric->bisection({.nodes = parts.gpus.nodes(),
                                  .senders = parts.gpus.nodes() / 2,
                                  .out = node_rate(parts, true) * (1 / nics),
                                  .in = node_rate(parts, false) * (1 / nics)});
}

}  // namespace stepcast::topology
