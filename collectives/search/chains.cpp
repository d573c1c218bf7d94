#include "collectives/search/chains.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <unordered_map>
#include <utility>

#include "collectives/search/view_links.h"

namespace stepcast::collectives {
namespace {

using topology::GpuId;

/// Nodes with more GPUs than this are walked in the order of their indices, if not joined by NVSwitches.
constexpr std::size_t kMostSearched = kMostViewed;
/// A ring through all ranks of an uneven group is simulated whole: no more channels than keep it to so many transfers.
constexpr std::uint64_t kMostTransfers = 4'000'000;

/// One ring in the order of the indices; between nodes as many chains as GPUs, each turned by one.
std::vector<Chain> in_order(std::size_t gpus, bool between_nodes) {
  std::vector<Chain> chains(between_nodes ? gpus : 1);
  for (std::size_t k = 0; k < chains.size(); ++k) {
    for (std::size_t i = 0; i < gpus; ++i) chains[k].push_back(static_cast<std::uint32_t>((k + i) % gpus));
  }
  return chains;
}

/// Those of one node, faster than in order; or empty.
std::vector<Chain> found_in_node(const topology::Cluster& cluster, std::span<const GpuId> gpus,
                                 std::span<const GpuId> abroad, ChainSearches& searches) {
  if (gpus.size() < 2 || gpus.size() > kMostSearched || behind_switches(cluster, gpus)) return {};
  const LinkView view = view_node(cluster, gpus, abroad);
  const std::vector<Chain> plain = in_order(gpus.size(), !abroad.empty());
  std::vector<Chain> found = searches.best(view);
  const auto total = [&](const std::vector<Chain>& chains) {
    return rate_of(view, chains) * static_cast<double>(chains.size());
  };
  return !found.empty() && total(found) > total(plain) * (1 + 1e-3) ? found : std::vector<Chain>{};
}

/// A node of an uneven group: the chains found for it, and the rank of its first GPU.
struct UnevenNode {
  std::vector<Chain> found;
  std::uint32_t first = 0;
};

/// So many chains of all ranks, node after node. Back and forth, as in rings over even nodes: steps between nodes stay
/// on one rail where nodes are alike.
std::vector<Chain> chains_over(const std::vector<UnevenNode>& nodes, std::size_t channels) {
  std::vector<Chain> chains(channels);
  for (std::size_t k = 0; k < channels; ++k) {
    for (std::size_t n = 0; n < nodes.size(); ++n) {
      Chain local = nodes[n].found[k % nodes[n].found.size()];
      if (nodes.size() % 2 == 0 && n % 2 == 1) std::ranges::reverse(local);
      for (const std::uint32_t gpu : local) chains[k].push_back(nodes[n].first + gpu);
    }
  }
  return chains;
}

/// What rings along these chains move, all together, where each moves as much as the slowest. O(ranks chains hops).
double rate_of_rings(const topology::Cluster& cluster, std::span<const GpuId> group, std::span<const Chain> chains) {
  std::unordered_map<std::uint32_t, double> loads;
  for (const Chain& chain : chains) {
    for (std::size_t i = 0; i < chain.size(); ++i) {
      const topology::Path path = cluster.path(group[chain[i]], group[chain[(i + 1) % chain.size()]]);
      for (std::size_t hop = 0; hop < path.links.size(); ++hop) loads[index(path.links[hop])] += path.loads[hop];
    }
  }
  double slowest = std::numeric_limits<double>::infinity();
  for (const auto& [link, load] : loads)
    slowest = std::min(slowest, cluster.link_bandwidth(topology::LinkId{link}).value / load);
  return slowest * static_cast<double>(chains.size());
}

/// As many channels as some node has found chains, so many that their rings move the most; of equals the most, but no
/// more than `most`. Nodes that have found fewer walk some of them twice, which halves the rate of all where the
/// numbers do not divide: 8 chains over 7 adapters.
std::vector<Chain> fastest_over(const topology::Cluster& cluster, std::span<const GpuId> group,
                                const std::vector<UnevenNode>& nodes, std::size_t most) {
  std::set<std::size_t> counts;
  for (const UnevenNode& node : nodes) counts.insert(std::min(node.found.size(), most));
  std::vector<Chain> best = chains_over(nodes, *counts.rbegin());
  if (counts.size() == 1) return best;
  double rate = rate_of_rings(cluster, group, best);
  for (auto count = std::next(counts.rbegin()); count != counts.rend(); ++count) {
    std::vector<Chain> fewer = chains_over(nodes, *count);
    const double reached = rate_of_rings(cluster, group, fewer);
    if (reached <= rate * (1 + 1e-9)) continue;
    rate = reached;
    best = std::move(fewer);
  }
  return best;
}

std::vector<Chain> found_over_uneven(const topology::Cluster& cluster, std::span<const GpuId> group,
                                     std::span<const std::span<const GpuId>> nodes, ChainSearches& searches) {
  std::vector<UnevenNode> all;
  std::uint32_t first = 0;
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    UnevenNode node{found_in_node(cluster, nodes[n], across(nodes[n], nodes[(n + 1) % nodes.size()]), searches), first};
    if (node.found.empty()) node.found = in_order(nodes[n].size(), true);
    all.push_back(std::move(node));
    first += static_cast<std::uint32_t>(nodes[n].size());
  }
  const std::uint64_t ring = 2 * static_cast<std::uint64_t>(group.size()) * group.size();
  return fastest_over(cluster, group, all, std::max<std::uint64_t>(kMostTransfers / ring, 1));
}

/// The GPU of a node that takes each number, so that the chains move the most.
Chain fastest_numbers(const topology::Cluster& cluster, std::span<const GpuId> gpus, std::span<const GpuId> abroad,
                      std::span<const Chain> chains, ChainSearches& searches) {
  const LinkView view = view_node(cluster, gpus, abroad);
  std::vector<Chain> own = found_in_node(cluster, gpus, abroad, searches);
  if (own.empty()) own = in_order(gpus.size(), !abroad.empty());
  Chain best(gpus.size()), numbers(gpus.size());
  std::iota(best.begin(), best.end(), 0u);
  double rate = rate_of(view, chains);
  std::vector<Chain> walked(chains.begin(), chains.end());
  const auto offer = [&](const Chain& chain) {
    for (std::size_t i = 0; i < chain.size(); ++i) numbers[chains.front()[i]] = chain[i];
    for (std::size_t k = 0; k < chains.size(); ++k) {
      std::ranges::transform(chains[k], walked[k].begin(), [&](std::uint32_t number) { return numbers[number]; });
    }
    const double reached = rate_of(view, walked);
    if (reached <= rate * (1 + 1e-9)) return;
    rate = reached;
    best = numbers;
  };
  for (Chain& chain : own) {
    for (std::size_t start = 0; start < (abroad.empty() ? chain.size() : 1); ++start) {
      offer(chain);
      offer({chain.rbegin(), chain.rend()});
      std::rotate(chain.begin(), chain.begin() + 1, chain.end());
    }
  }
  return best;
}

}  // namespace

bool behind_switches(const topology::Cluster& cluster, std::span<const GpuId> gpus) {
  for (std::size_t i = 0; i < gpus.size() && gpus.size() > 1; ++i) {
    const topology::Path path = cluster.path(gpus[i], gpus[(i + 1) % gpus.size()]);
    if (path.kind != topology::PathKind::nvlink || path.links.size() < 2) return false;
  }
  return true;
}

std::vector<GpuId> across(std::span<const GpuId> here, std::span<const GpuId> there) {
  std::vector<GpuId> abroad;
  for (std::size_t i = 0; i < here.size(); ++i) abroad.push_back(there[i % there.size()]);
  return abroad;
}

std::vector<std::span<const GpuId>> by_node(const topology::Cluster& cluster, std::span<const GpuId> group) {
  std::vector<std::span<const GpuId>> parts;
  for (std::size_t first = 0, i = 1; i <= group.size(); ++i) {
    if (i < group.size() && cluster.node_of(group[i]) == cluster.node_of(group[first])) continue;
    parts.push_back(group.subspan(first, i - first));
    first = i;
  }
  return parts;
}

std::vector<Chain> found_chains(const topology::Cluster& cluster, std::span<const GpuId> group, std::uint32_t nodes,
                                ChainSearches& searches) {
  if (nodes > 1) {
    const std::size_t gpus = group.size() / nodes;
    const std::span<const GpuId> here = group.first(gpus);
    return found_in_node(cluster, here, across(here, group.subspan(gpus, gpus)), searches);
  }
  const std::vector<std::span<const GpuId>> parts = by_node(cluster, group);
  return parts.size() == 1 ? found_in_node(cluster, group, {}, searches)
                           : found_over_uneven(cluster, group, parts, searches);
}

void walk_alike(const topology::Cluster& cluster, std::vector<std::vector<GpuId>>& groups, std::uint32_t nodes,
                std::span<const Chain> chains, ChainSearches& searches) {
  if (chains.empty() || chains.front().size() * nodes != groups.front().size()) return;
  const auto place_in_node = [&](GpuId id) { return cluster.place_in_node(id); };
  std::map<std::vector<std::uint32_t>, Chain> known;  // by the places of a node's GPUs and of those abroad
  for (std::vector<GpuId>& group : std::span(groups).subspan(1)) {
    if (nodes == 1 && by_node(cluster, group).size() > 1) continue;
    const std::size_t gpus = group.size() / nodes;
    const std::span<const GpuId> here = std::span(group).first(gpus);
    std::vector<GpuId> abroad;
    if (nodes > 1) abroad = across(here, std::span(group).subspan(gpus, gpus));
    std::vector<std::uint32_t> places;
    for (const GpuId id : here) places.push_back(place_in_node(id));
    for (const GpuId id : abroad) places.push_back(place_in_node(id));
    const auto [numbers, fresh] = known.try_emplace(std::move(places));
    if (fresh) numbers->second = fastest_numbers(cluster, here, abroad, chains, searches);
    const std::vector<GpuId> in_order_of_ids = group;
    for (std::size_t i = 0; i < group.size(); ++i)
      group[i] = in_order_of_ids[i / gpus * gpus + numbers->second[i % gpus]];
  }
}

}  // namespace stepcast::collectives
