#include "topology/router.h"

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/dijkstra_shortest_paths.hpp>
#include <boost/graph/filtered_graph.hpp>
#include <boost/property_map/function_property_map.hpp>
#include <functional>
#include <limits>

namespace stepcast::topology {

namespace {

struct EdgeIndex {
  std::uint32_t value = 0;
};
using Multigraph = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, boost::no_property, EdgeIndex,
                                         boost::no_property>;
using EdgeOf = boost::graph_traits<Multigraph>::edge_descriptor;

constexpr std::uint32_t kNoEdge = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint32_t kFar = std::numeric_limits<std::uint32_t>::max();

struct CostSum {
  Cost operator()(const Cost& a, const Cost& b) const {
    if (a.sockets == kFar || b.sockets == kFar) return {.sockets = kFar};
    return {a.sockets + b.sockets, a.hops + b.hops, a.picoseconds + b.picoseconds,
            a.seconds_per_byte + b.seconds_per_byte};
  }
};

/// Remembers by which edge each device was last reached more cheaply.
struct Recorder : boost::default_dijkstra_visitor {
  Recorder(const Multigraph& from, std::vector<std::uint32_t>& into) : graph(&from), edge_into(&into) {}
  template <class AnyGraph>
  void edge_relaxed(EdgeOf e, const AnyGraph&) const {
    (*edge_into)[boost::target(e, *graph)] = (*graph)[e].value;
  }
  const Multigraph* graph;
  std::vector<std::uint32_t>* edge_into;
};

}  // namespace

struct Router::Impl {
  explicit Impl(const Graph& nodes_and_links) : plain(nodes_and_links), graph(plain.devices.size()) {
    for (std::uint32_t e = 0; e < plain.edges.size(); ++e) {
      boost::add_edge(plain.edges[e].from, plain.edges[e].to, EdgeIndex{e}, graph);
    }
  }

  Graph plain;
  Multigraph graph;

  bool usable(std::uint32_t e, std::uint32_t source, Wires wires) const {
    const Edge& edge = plain.edges[e];
    const DeviceKind through = plain.devices[edge.from].kind;
    const bool end_point = through == DeviceKind::gpu || through == DeviceKind::nic;
    if (wires == Wires::nvlink_forwarded) return edge.kind == LinkKind::nvlink;
    if (edge.from != source && end_point) return false;
    return (edge.kind == LinkKind::nvlink) == (wires == Wires::nvlink);
  }

  Cost cost(std::uint32_t e) const {
    const Edge& edge = plain.edges[e];
    return {edge.kind == LinkKind::socket ? 1u : 0u, 1, edge.latency.value, 1 / edge.bandwidth.value};
  }
};

Router::Router(const Graph& graph) : impl_(std::make_unique<Impl>(graph)) {}

Router::~Router() = default;

std::vector<std::optional<GraphRoute>> Router::routes_from(std::uint32_t source, Wires wires) const {
  const Impl& impl = *impl_;
  const std::size_t devices = impl.plain.devices.size();
  const auto index_of = [&impl](EdgeOf e) { return impl.graph[e].value; };
  const std::function<bool(EdgeOf)> keep = [&](EdgeOf e) { return impl.usable(index_of(e), source, wires); };
  const boost::filtered_graph<Multigraph, std::function<bool(EdgeOf)>> filtered(impl.graph, keep);

  std::vector<std::uint32_t> edge_into(devices, kNoEdge);
  std::vector<Cost> distance(devices);
  const auto weight = boost::make_function_property_map<EdgeOf>([&](EdgeOf e) { return impl.cost(index_of(e)); });
  const auto vertex_index = boost::get(boost::vertex_index, impl.graph);
  boost::dijkstra_shortest_paths(filtered, source,
                                 boost::weight_map(weight)
                                     .distance_map(boost::make_iterator_property_map(distance.begin(), vertex_index))
                                     .distance_compare(std::less<Cost>{})
                                     .distance_combine(CostSum{})
                                     .distance_inf(Cost{.sockets = kFar})
                                     .distance_zero(Cost{})
                                     .visitor(Recorder(impl.graph, edge_into)));

  std::vector<std::optional<GraphRoute>> routes(devices);
  for (std::uint32_t d = 0; d < devices; ++d) {
    if (distance[d].sockets == kFar) continue;
    GraphRoute route{.edges = {}, .cost = distance[d]};
    for (std::uint32_t at = d; at != source; at = impl.plain.edges[edge_into[at]].from) {
      route.edges.push_back(edge_into[at]);
    }
    std::reverse(route.edges.begin(), route.edges.end());
    routes[d] = std::move(route);
  }
  return routes;
}

}  // namespace stepcast::topology
