#include "collectives/algorithm.h"
#include "collectives/algorithms/trees.h"

namespace stepcast::collectives {
namespace {

CollectivePlan plan_double_binary_tree(const Request& request) {
  const Tree first = first_tree(request.nodes), second = second_tree(first);
  std::vector<Tree> trees;
  for (std::uint32_t k = 0; k < planned_channels(request); ++k) {
    trees.push_back(with_chains(first, chain_of(request, k)));
    trees.push_back(with_chains(second, reverse_chain_of(request, k)));
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
    .automatic = [](const Request&) { return true; },
    .supports = [](const Request& request) { return request.ranks >= 2 && request.operation == Operation::all_reduce; },
    .plan = plan_double_binary_tree,
    .symmetry = tree_symmetry};

}  // namespace stepcast::collectives
