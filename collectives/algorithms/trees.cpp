#include "collectives/algorithms/trees.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace stepcast::collectives {
namespace {

/// The in-order binary tree of places 1..n, place i at height (trailing zeros of i): odd places are leaves. Above place
/// i of height h stands the one of i - 2^h, i + 2^h that is of height h + 1; places past n are passed over.
std::uint32_t place_above(std::uint32_t place, std::uint32_t n) {
  std::uint64_t at = place;
  const std::uint64_t top = std::bit_floor(std::uint64_t{n});
  if (at == top) return kNoParent;
  do {
    const std::uint64_t step = at & (~at + 1);
    at = (at / step) % 4 == 1 ? at + step : at - step;
  } while (at > n);
  return static_cast<std::uint32_t>(at);
}

}  // namespace

Tree first_tree(std::uint32_t n) {
  Tree tree(n, kNoParent);
  for (std::uint32_t i = 0; i < n; ++i) {
    const std::uint32_t above = place_above(i + 1, n);
    if (above != kNoParent) tree[i] = above - 1;
  }
  return tree;
}

Tree second_tree(const Tree& first) {
  const auto n = static_cast<std::uint32_t>(first.size());
  const auto moved = [n](std::uint32_t i) { return n % 2 == 0 ? n - 1 - i : (i + 1) % n; };
  Tree tree(n, kNoParent);
  for (std::uint32_t i = 0; i < n; ++i) {
    if (first[i] != kNoParent) tree[moved(i)] = moved(first[i]);
  }
  return tree;
}

std::vector<std::uint32_t> top_down(const Tree& tree) {
  std::vector<std::uint32_t> depth(tree.size());
  for (std::uint32_t rank = 0; rank < tree.size(); ++rank) {
    for (std::uint32_t up = tree[rank]; up != kNoParent; up = tree[up]) ++depth[rank];
  }
  std::vector<std::uint32_t> order(tree.size());
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::stable_sort(order, {}, [&](std::uint32_t rank) { return depth[rank]; });
  return order;
}

std::vector<std::uint32_t> chain_of(const Request& request, std::uint32_t channel) {
  if (!request.chains.empty()) return request.chains[channel];
  std::vector<std::uint32_t> chain(request.gpus());
  for (std::uint32_t i = 0; i < request.gpus(); ++i) chain[i] = (channel + i) % request.gpus();
  return chain;
}

std::vector<std::uint32_t> reverse_chain_of(const Request& request, std::uint32_t channel) {
  std::vector<std::uint32_t> chain = chain_of(request, channel);
  const bool ring = request.chains.empty() || request.nodes == 1;
  std::reverse(chain.begin() + (ring ? 1 : 0), chain.end());
  return chain;
}

Tree with_chains(const Tree& nodes, std::span<const std::uint32_t> chain, std::span<const std::uint32_t> first) {
  const std::size_t gpus = chain.size();
  Tree tree(nodes.size() * gpus, kNoParent);
  for (std::uint32_t node = 0; node < nodes.size(); ++node) {
    const std::span<const std::uint32_t> here = node == 0 && !first.empty() ? first : chain;
    const std::uint32_t base = node * static_cast<std::uint32_t>(gpus);
    const auto top = static_cast<std::size_t>(std::ranges::find(here, node == 0 && !first.empty() ? 0 : here.front()) -
                                              here.begin());
    for (std::size_t at = top; at > 0; --at) tree[base + here[at - 1]] = base + here[at];
    for (std::size_t at = top; at + 1 < gpus; ++at) tree[base + here[at + 1]] = base + here[at];
    if (nodes[node] != kNoParent) {
      tree[base + chain.front()] = nodes[node] * static_cast<std::uint32_t>(gpus) + chain.front();
    }
  }
  return tree;
}

std::uint32_t planned_channels(const Request& request) { return request.fold.rotate ? 1 : request.channels; }

CollectivePlan plan_trees(const Request& request, const std::vector<Tree>& trees) {
  const auto count = static_cast<std::uint32_t>(trees.size());
  const std::uint32_t of_all = count / planned_channels(request) * request.channels;
  std::vector<Range> shares;
  for (std::uint32_t k = 0; k < count; ++k) shares.push_back(part(request.all(), of_all, k));
  return plan_trees(request, trees, shares);
}

CollectivePlan plan_trees(const Request& request, const std::vector<Tree>& trees, std::span<const Range> shares) {
  const std::uint32_t n = request.ranks, wanted = static_cast<std::uint32_t>(trees.size());
  const bool up = request.operation != Operation::broadcast, down = request.operation != Operation::reduce;
  const std::uint32_t count = request.pieces;
  CollectivePlan plan;
  plan.ranks = n;
  plan.pieces = count;
  const std::size_t transfers = std::size_t{n} * wanted * count * (up && down ? 2 : 1);
  plan.reserve(transfers, 2 * transfers);
  for (std::uint32_t k = 0; k < wanted; ++k) {
    const Tree& tree = trees[k];
    const std::vector<std::uint32_t> order = top_down(tree);
    std::vector<ConnectionId> to_parent(n), from_parent(n);
    for (std::uint32_t rank = 0; rank < n; ++rank) {
      if (tree[rank] == kNoParent) continue;
      if (up) to_parent[rank] = plan.connect(rank, tree[rank], k);
      if (down) from_parent[rank] = plan.connect(tree[rank], rank, k);
    }
    std::vector<std::vector<TransferId>> arrived(n);  // of this piece: what each rank must have before it sends
    for (std::uint32_t piece = 0; piece < count; ++piece) {
      const ChunkId chunk = plan.add_chunk(part(shares[k], count, piece));
      for (std::vector<TransferId>& list : arrived) list.clear();
      for (auto rank = order.rbegin(); up && rank != order.rend(); ++rank) {
        if (tree[*rank] == kNoParent) continue;
        arrived[tree[*rank]].push_back(plan.add({to_parent[*rank], chunk, Effect::reduce}, arrived[*rank]));
      }
      for (auto rank = order.begin(); down && rank != order.end(); ++rank) {
        if (tree[*rank] == kNoParent) continue;
        arrived[*rank] = {plan.add({from_parent[*rank], chunk, Effect::copy}, arrived[tree[*rank]])};
      }
    }
  }
  return plan;
}

Symmetry tree_symmetry(const Request& request) {
  const bool turns = request.operation == Operation::all_reduce && request.gpus() > 1 && request.nodes > 1 &&
                     request.channels == request.gpus() && request.chains.empty();
  return {.period = 0, .rotate = turns};
}

}  // namespace stepcast::collectives
