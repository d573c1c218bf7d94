#include "collectives/search/arborescence.h"

#include <limits>

namespace stepcast::collectives {
namespace {

struct WeightedEdge {
  std::uint32_t from = 0, to = 0;
  double cost = 0;
  std::uint32_t origin = 0;  // index in the caller's list
};

/// The edges, by index, of the cheapest arborescence.
std::vector<std::uint32_t> solve(std::uint32_t n, std::uint32_t root, const std::vector<WeightedEdge>& edges) {
  std::vector<std::uint32_t> into(n, kNoParent);
  for (std::uint32_t e = 0; e < edges.size(); ++e) {
    if (edges[e].to == root || edges[e].from == edges[e].to) continue;
    std::uint32_t& best = into[edges[e].to];
    if (best == kNoParent || edges[e].cost < edges[best].cost) best = e;
  }
  // Circles of the cheapest edges become one vertex each.
  std::vector<std::uint32_t> group(n, kNoParent), walk(n, kNoParent);
  std::uint32_t groups = 0;
  std::vector<bool> circle;
  for (std::uint32_t v = 0; v < n; ++v) {
    std::uint32_t at = v;
    while (at != root && walk[at] == kNoParent && group[at] == kNoParent) {
      walk[at] = v;
      at = edges[into[at]].from;
    }
    if (at != root && group[at] == kNoParent && walk[at] == v) {
      for (std::uint32_t u = at; group[u] == kNoParent; u = edges[into[u]].from) group[u] = groups;
      ++groups;
      circle.push_back(true);
    }
    for (at = v; group[at] == kNoParent;) {
      group[at] = groups++;
      circle.push_back(false);
      if (at == root) break;
      at = edges[into[at]].from;
    }
  }
  std::vector<std::uint32_t> chosen;
  if (groups == n) {
    for (std::uint32_t v = 0; v < n; ++v) {
      if (v != root) chosen.push_back(into[v]);
    }
    return chosen;
  }
  std::vector<WeightedEdge> smaller;
  for (std::uint32_t e = 0; e < edges.size(); ++e) {
    const WeightedEdge& edge = edges[e];
    if (group[edge.from] == group[edge.to] || edge.to == root) continue;
    const double saved = circle[group[edge.to]] ? edges[into[edge.to]].cost : 0;
    smaller.push_back({group[edge.from], group[edge.to], edge.cost - saved, e});
  }
  std::vector<bool> entered(n);
  for (const std::uint32_t e : solve(groups, group[root], smaller)) {
    chosen.push_back(smaller[e].origin);
    entered[edges[smaller[e].origin].to] = true;
  }
  // A circle keeps all its edges but the one into where it is entered.
  for (std::uint32_t v = 0; v < n; ++v) {
    if (v != root && circle[group[v]] && !entered[v]) chosen.push_back(into[v]);
  }
  return chosen;
}

}  // namespace

Tree cheapest_arborescence(std::uint32_t ranks, std::uint32_t root, const std::vector<double>& cost) {
  std::vector<WeightedEdge> edges;
  for (std::uint32_t from = 0; from < ranks; ++from) {
    for (std::uint32_t to = 0; to < ranks; ++to) {
      const double price = cost[std::size_t{from} * ranks + to];
      if (from != to && price < std::numeric_limits<double>::infinity()) edges.push_back({from, to, price, 0});
    }
  }
  Tree tree(ranks, kNoParent);
  for (const std::uint32_t e : solve(ranks, root, edges)) tree[edges[e].to] = edges[e].from;
  return tree;
}

}  // namespace stepcast::collectives
