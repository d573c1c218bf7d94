#include "topology/node_template.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>

#include "topology/router.h"

namespace stepcast::topology {

namespace {

PathKind kind_of(const Graph& graph, const std::vector<std::uint32_t>& edges) {
  PathKind worst = PathKind::same_gpu;
  for (const std::uint32_t e : edges) {
    const Edge& edge = graph.edges[e];
    const bool host = edge.kind == LinkKind::socket || graph.devices[edge.to].kind == DeviceKind::cpu;
    worst = std::max(worst, host ? PathKind::host : edge.kind == LinkKind::nvlink ? PathKind::nvlink : PathKind::pcie);
  }
  return worst;
}

NodeRoute finish(const Graph& graph, std::vector<std::uint32_t> edges) {
  NodeRoute route{.found = true, .edges = std::move(edges), .latency = {}, .bandwidth = {}, .kind = {}};
  route.bandwidth.value = std::numeric_limits<double>::infinity();
  for (const std::uint32_t e : route.edges) {
    route.latency += graph.edges[e].latency;
    route.bandwidth = std::min(route.bandwidth, graph.edges[e].bandwidth);
  }
  route.kind = kind_of(graph, route.edges);
  return route;
}

using Routes = std::vector<std::optional<Route>>;

auto nearness(const Route& route) { return std::tie(route.cost.sockets, route.cost.hops); }

/// The host-side ways of one node, from every device.
class HostSide {
 public:
  HostSide(const Graph& graph, const Router& router, bool p2p)
      : graph_(graph), p2p_(p2p), cpus_(graph.all(DeviceKind::cpu)) {
    for (std::uint32_t d = 0; d < graph.devices.size(); ++d) from_.push_back(router.routes_from(d, Wires::host_side));
  }

  const std::optional<Route>& direct(std::uint32_t from, std::uint32_t to) const { return from_[from][to]; }

  /// The way that a copy takes: direct, or without P2P over the memory of the sender's nearest socket.
  NodeRoute copy(std::uint32_t from, std::uint32_t to) const {
    if (p2p_) return direct(from, to) ? finish(graph_, direct(from, to)->edges) : NodeRoute{};
    std::optional<std::uint32_t> bounce;
    for (const std::uint32_t cpu : cpus_) {
      if (!direct(from, cpu) || !direct(cpu, to)) continue;
      if (!bounce || nearness(*direct(from, cpu)) < nearness(*direct(from, *bounce))) bounce = cpu;
    }
    if (!bounce) return {};
    std::vector<std::uint32_t> edges = direct(from, *bounce)->edges;
    const std::vector<std::uint32_t>& down = direct(*bounce, to)->edges;
    edges.insert(edges.end(), down.begin(), down.end());
    return finish(graph_, std::move(edges));
  }

 private:
  const Graph& graph_;
  bool p2p_;
  std::vector<std::uint32_t> cpus_;
  std::vector<Routes> from_;
};

void choose_nics(NodeTemplate& node, const HostSide& host) {
  std::vector<std::uint32_t> served(node.nics.size());
  for (const std::uint32_t gpu : node.gpus) {
    std::uint32_t best = NodeTemplate::kNoNic;
    for (std::uint32_t n = 0; n < node.nics.size(); ++n) {
      const auto& way = host.direct(gpu, node.nics[n]);
      if (!way) continue;
      if (best == NodeTemplate::kNoNic) {
        best = n;
        continue;
      }
      const auto& best_way = host.direct(gpu, node.nics[best]);
      const auto rank = [](const Route& route, std::uint32_t load) {
        return std::tuple(route.cost.sockets, route.cost.hops, load);
      };
      if (rank(*way, served[n]) < rank(*best_way, served[best])) best = n;
    }
    node.nic_of.push_back(best);
    const bool has = best != NodeTemplate::kNoNic;
    if (has) ++served[best];
    node.gpu_to_nic.push_back(has ? host.copy(gpu, node.nics[best]) : NodeRoute{});
    node.nic_to_gpu.push_back(has ? host.copy(node.nics[best], gpu) : NodeRoute{});
  }
}

}  // namespace

NodeTemplate make_node_template(Graph graph, bool pcie_p2p) {
  NodeTemplate node;
  node.graph = std::move(graph);
  node.gpus = node.graph.all(DeviceKind::gpu);
  node.nics = node.graph.all(DeviceKind::nic);
  const Router router(node.graph);
  const HostSide host(node.graph, router, pcie_p2p);
  for (const std::uint32_t from : node.gpus) {
    const Routes nvlink = router.routes_from(from, Wires::nvlink);
    for (const std::uint32_t to : node.gpus) {
      if (nvlink[to]) {
        node.gpu_to_gpu.push_back(finish(node.graph, nvlink[to]->edges));
      } else {
        node.gpu_to_gpu.push_back(host.copy(from, to));
      }
    }
  }
  choose_nics(node, host);
  return node;
}

}  // namespace stepcast::topology
