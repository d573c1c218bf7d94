#include "topology/matrix.h"

#include <algorithm>
#include <bit>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/push_relabel_max_flow.hpp>
#include <cmath>
#include <limits>
#include <set>

#include "topology/cluster_impl.h"

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

using Traits = boost::adjacency_list_traits<boost::vecS, boost::vecS, boost::directedS>;
/// Capacities in whole bytes per second: exact sums.
using FlowGraph = boost::adjacency_list<
    boost::vecS, boost::vecS, boost::directedS, boost::no_property,
    boost::property<boost::edge_capacity_t, std::int64_t,
                    boost::property<boost::edge_residual_capacity_t, std::int64_t,
                                    boost::property<boost::edge_reverse_t, Traits::edge_descriptor>>>>;

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

/// What can flow from the GPUs of one side to the others.
Bandwidth max_flow(const Cluster& cluster, const std::vector<LinkId>& links, const std::vector<bool>& senders) {
  const Cluster::Impl& impl = cluster.impl();
  const std::size_t source = impl.devices(), sink = source + 1;
  FlowGraph graph(sink + 1);
  const auto capacity = boost::get(boost::edge_capacity, graph);
  const auto reverse = boost::get(boost::edge_reverse, graph);
  const auto add = [&](std::size_t from, std::size_t to, double bytes_per_second) {
    const auto there = boost::add_edge(from, to, graph).first, back = boost::add_edge(to, from, graph).first;
    capacity[there] = std::llround(bytes_per_second);
    capacity[back] = 0;
    reverse[there] = back;
    reverse[back] = there;
  };
  std::vector<double> out(impl.devices()), in(impl.devices());
  for (const LinkId id : links) {
    const Cluster::Impl::Ends ends = impl.ends(id);
    add(ends.from, ends.to, ends.bandwidth.value);
    out[ends.from] += ends.bandwidth.value;
    in[ends.to] += ends.bandwidth.value;
  }
  for (std::uint32_t g = 0; g < cluster.gpus(); ++g) {
    const Cluster::Impl::Slot slot = impl.slot(GpuId{g});
    const std::size_t device = std::size_t{slot.node} * impl.devices_per_node() + impl.node.gpus[slot.gpu];
    if (senders[g]) {
      add(source, device, out[device]);
    } else {
      add(device, sink, in[device]);
    }
  }
  return {static_cast<double>(boost::push_relabel_max_flow(graph, source, sink))};
}

}  // namespace

std::vector<Pair> pairs(const Cluster& cluster, std::uint32_t most) {
  const Cluster::Impl& impl = cluster.impl();
  // Without bounces: the wires themselves.
  const bool forwarding = impl.node.nvlink_forwarding;
  const NodeTemplate wires = make_node_template(impl.node.graph, {.pcie_p2p = true, .nvlink_forwarding = forwarding});
  const std::uint32_t shown = std::min(cluster.gpus(), most);
  std::vector<Pair> all;
  all.reserve(std::size_t{shown} * shown);
  for (std::uint32_t a = 0; a < shown; ++a) {
    for (std::uint32_t b = 0; b < shown; ++b) {
      const Cluster::Impl::Slot from = impl.slot(GpuId{a}), to = impl.slot(GpuId{b});
      const Path path = cluster.path(GpuId{a}, GpuId{b});
      all.push_back({from.node == to.node ? kind_of(wires.graph, wires.between(from.gpu, to.gpu)) : "NET",
                     path.bandwidth, path.latency, hops_of(path)});
    }
  }
  return all;
}

Bandwidth bisection(const Cluster& cluster) {
  constexpr std::uint32_t kMostToTryAll = 10;
  const std::uint32_t gpus = cluster.gpus(), half = gpus / 2;
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

}  // namespace stepcast::topology
