#include "collectives/algorithm.h"
#include "collectives/algorithms/trees.h"

namespace stepcast::collectives {
namespace {

/// Node i hangs below node (i - 1) / 2.
CollectivePlan plan_tree(const Request& request) {
  Tree nodes(request.nodes, kNoParent);
  for (std::uint32_t node = 1; node < request.nodes; ++node) nodes[node] = (node - 1) / 2;
  std::vector<Tree> trees;
  for (std::uint32_t k = 0; k < planned_channels(request); ++k) {
    const std::vector<std::uint32_t> chain = chain_of(request, k);
    const bool rooted = request.operation != Operation::all_reduce;
    // A found chain is the root's too; index order begins at the root.
    const std::vector<std::uint32_t> first = request.chains.empty() ? chain_of(request, 0) : chain;
    trees.push_back(rooted ? with_chains(nodes, chain, first) : with_chains(nodes, chain));
  }
  return plan_trees(request, trees);
}

bool supports_tree(const Request& request) {
  return request.ranks >= 2 && (request.operation == Operation::all_reduce ||
                                request.operation == Operation::broadcast || request.operation == Operation::reduce);
}

}  // namespace

extern const Algorithm tree;
constinit const Algorithm tree{.name = "tree",
                               .summary = "pieces go up and down a binary tree of nodes, a chain of GPUs in each",
                               .source =
                                   "Thakur, Rabenseifner and Gropp, Int. J. High Perform. Comput. Appl. 19(1), "
                                   "2005 (trees); NCCL 2.4 (chains inside nodes)",
                               .tree = true,
                               .automatic = [](const Request&) { return false; },
                               .supports = supports_tree,
                               .plan = plan_tree,
                               .symmetry = tree_symmetry};

}  // namespace stepcast::collectives
