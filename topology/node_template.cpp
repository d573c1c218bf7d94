#include "topology/node_template.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>

#include "topology/parallel_links.h"
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

/// `turn`: which of the links that lie side by side between two sockets the route takes.
NodeRoute finish(const Graph& graph, std::vector<std::uint32_t> edges, std::uint32_t turn = 0) {
  take_parallel_links(graph, edges, turn);
  NodeRoute route{.found = true, .edges = std::move(edges), .latency = {}, .bandwidth = {}, .kind = {}};
  route.bandwidth.value = std::numeric_limits<double>::infinity();
  for (const std::uint32_t e : route.edges) {
    route.latency += graph.edges[e].latency;
    route.bandwidth = std::min(route.bandwidth, graph.edges[e].bandwidth);
  }
  route.kind = kind_of(graph, route.edges);
  return route;
}

using Routes = std::vector<std::optional<GraphRoute>>;

auto nearness(const GraphRoute& route) { return std::tie(route.cost.sockets, route.cost.hops); }

/// The ways over PCIe and sockets that copies take.
class HostSide {
 public:
  HostSide(const Graph& graph, const Router& router, bool p2p) : graph_(graph), p2p_(p2p) {
    if (p2p) return;
    for (const std::uint32_t cpu : graph.all(DeviceKind::cpu)) {
      cpus_.push_back({cpu, router.routes_from(cpu, Wires::host_side)});
    }
  }

  /// `from`: the host-side routes of the sender. Direct, or without P2P over the memory of the sender's nearest socket.
  NodeRoute copy(const Routes& from, std::uint32_t to, std::uint32_t turn) const {
    if (p2p_) return from[to] ? finish(graph_, from[to]->edges, turn) : NodeRoute{};
    const Socket* bounce = nullptr;
    for (const Socket& cpu : cpus_) {
      if (!from[cpu.device] || !cpu.routes[to]) continue;
      if (!bounce || nearness(*from[cpu.device]) < nearness(*from[bounce->device])) bounce = &cpu;
    }
    if (!bounce) return {};
    std::vector<std::uint32_t> edges = from[bounce->device]->edges;
    const std::vector<std::uint32_t>& down = bounce->routes[to]->edges;
    edges.insert(edges.end(), down.begin(), down.end());
    return finish(graph_, std::move(edges), turn);
  }

 private:
  struct Socket {
    std::uint32_t device = 0;
    Routes routes;
  };
  const Graph& graph_;
  bool p2p_;
  std::vector<Socket> cpus_;  ///< with P2P none are needed
};

constexpr std::uint32_t kNoNic = std::numeric_limits<std::uint32_t>::max();

/// The nearest NIC; of equally near ones the one that has served the fewest GPUs so far, then the first.
std::uint32_t choose_nic(const NodeTemplate& node, const Routes& from, const std::vector<std::uint32_t>& served) {
  std::uint32_t best = kNoNic;
  const auto rank = [&](std::uint32_t n) {
    const Cost& cost = from[node.nics[n]]->cost;
    return std::tuple(cost.sockets, cost.hops, served[n]);
  };
  for (std::uint32_t n = 0; n < node.nics.size(); ++n) {
    if (!from[node.nics[n]]) continue;
    if (best == kNoNic || rank(n) < rank(best)) best = n;
  }
  return best;
}

/// Hands the NICs that serve nobody to GPUs that have none nearer. `from[gpu]`: that GPU's host-side routes.
void share_idle_nics(NodeTemplate& node, const std::vector<Routes>& from, const std::vector<std::uint32_t>& served) {
  for (std::uint32_t n = 0; n < node.nics.size(); ++n) {
    if (served[n] > 0) continue;
    std::vector<std::uint32_t>* poorest = nullptr;
    for (std::uint32_t g = 0; g < node.gpus.size(); ++g) {
      std::vector<std::uint32_t>& own = node.nics_of[g];
      const std::optional<GraphRoute>& way = from[g][node.nics[n]];
      if (!way || own.empty() || nearness(*way) > nearness(*from[g][node.nics[own.front()]])) continue;
      if (poorest == nullptr || own.size() < poorest->size()) poorest = &own;
    }
    if (poorest != nullptr) poorest->push_back(n);
  }
  for (std::vector<std::uint32_t>& own : node.nics_of) std::ranges::sort(own);
}

}  // namespace

NodeTemplate make_node_template(Graph graph, CopyRules rules) {
  NodeTemplate node;
  node.graph = std::move(graph);
  node.nvlink_forwarding = rules.nvlink_forwarding;
  node.gpus = node.graph.all(DeviceKind::gpu);
  node.nics = node.graph.all(DeviceKind::nic);
  const Router router(node.graph);
  const HostSide host(node.graph, router, rules.pcie_p2p);
  const Wires wires = rules.nvlink_forwarding ? Wires::nvlink_forwarded : Wires::nvlink;
  std::vector<std::uint32_t> served(node.nics.size());
  std::vector<Routes> host_routes, nic_routes;
  // Pairs that meet in no GPU take unlike links between two sockets, as far as there are enough.
  const auto turn = [](std::size_t a, std::size_t b) { return static_cast<std::uint32_t>(a + b); };
  for (std::size_t g = 0; g < node.gpus.size(); ++g) {
    const std::uint32_t from = node.gpus[g];
    const bool given = !node.graph.forwarded.empty();
    const Routes nvlink = given ? Routes{} : router.routes_from(from, wires);
    Routes pcie = router.routes_from(from, Wires::host_side);
    for (std::size_t h = 0; h < node.gpus.size(); ++h) {
      const std::uint32_t to = node.gpus[h];
      if (given) {
        node.gpu_to_gpu.push_back(finish(node.graph, std::move(node.graph.forwarded[node.gpu_to_gpu.size()])));
        continue;
      }
      node.gpu_to_gpu.push_back(nvlink[to] ? finish(node.graph, nvlink[to]->edges) : host.copy(pcie, to, turn(g, h)));
    }
    const std::uint32_t nic = choose_nic(node, pcie, served);
    node.nics_of.emplace_back();
    if (nic != kNoNic) {
      node.nics_of.back().push_back(nic);
      ++served[nic];
    }
    host_routes.push_back(std::move(pcie));
  }
  node.graph.forwarded.clear();
  share_idle_nics(node, host_routes, served);
  for (const std::uint32_t nic : node.nics) nic_routes.push_back(router.routes_from(nic, Wires::host_side));
  for (std::size_t g = 0; g < node.gpus.size(); ++g) {
    for (std::size_t n = 0; n < node.nics.size(); ++n) {
      node.gpu_to_nic.push_back(host.copy(host_routes[g], node.nics[n], turn(g, n)));
      node.nic_to_gpu.push_back(host.copy(nic_routes[n], node.gpus[g], turn(g, n)));
    }
  }
  return node;
}

}  // namespace stepcast::topology
