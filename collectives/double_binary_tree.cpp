#include <bit>

#include "collectives/trees.h"

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

Tree first_tree(std::uint32_t n) {
  Tree tree(n, kNoParent);
  for (std::uint32_t i = 0; i < n; ++i) {
    const std::uint32_t above = place_above(i + 1, n);
    if (above != kNoParent) tree[i] = above - 1;
  }
  return tree;
}

/// The first tree mirrored (n even) or turned by one (n odd): who forwards in one is a leaf in the other.
Tree second_tree(const Tree& first) {
  const auto n = static_cast<std::uint32_t>(first.size());
  const auto moved = [n](std::uint32_t i) { return n % 2 == 0 ? n - 1 - i : (i + 1) % n; };
  Tree tree(n, kNoParent);
  for (std::uint32_t i = 0; i < n; ++i) {
    if (first[i] != kNoParent) tree[moved(i)] = moved(first[i]);
  }
  return tree;
}

Plan plan_double_binary_tree(const Request& request) {
  const Tree first = first_tree(request.nodes), second = second_tree(first);
  std::vector<Tree> trees;
  for (std::uint32_t k = 0; k < request.channels; ++k) {
    const std::uint32_t gpus = request.gpus(), leader = k % gpus;
    trees.push_back(with_chains(first, gpus, leader, false));
    trees.push_back(with_chains_backwards(second, gpus, leader));
  }
  return plan_trees(request, trees);
}

}  // namespace

extern const Algorithm double_binary_tree;
constinit const Algorithm double_binary_tree{
    .name = "double-binary-tree",
    .summary = "half of the data on each of two trees, where a node forwards in one only; a chain of GPUs in each node",
    .source = "Sanders, Speck and Traeff, Parallel Computing 35(12), 2009",
    .tree = true,
    .automatic = [](Operation) { return true; },
    .supports = [](const Request& request) { return request.ranks >= 2 && request.operation == Operation::all_reduce; },
    .plan = plan_double_binary_tree,
    .symmetry = tree_symmetry};

}  // namespace stepcast::collectives
