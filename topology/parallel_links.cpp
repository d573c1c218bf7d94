#include "topology/parallel_links.h"

namespace stepcast::topology {

void take_parallel_links(const Graph& graph, std::vector<std::uint32_t>& edges, std::uint32_t turn) {
  for (std::uint32_t& taken : edges) {
    const Edge& edge = graph.edges[taken];
    if (edge.kind != LinkKind::socket) continue;
    std::vector<std::uint32_t> parallel;
    for (std::uint32_t e = 0; e < graph.edges.size(); ++e) {
      const Edge& other = graph.edges[e];
      if (other.kind == LinkKind::socket && other.from == edge.from && other.to == edge.to) parallel.push_back(e);
    }
    taken = parallel[turn % parallel.size()];
  }
}

}  // namespace stepcast::topology
