#include <cmath>

#include "collectives/algorithm.h"
#include "collectives/algorithms/trees.h"
#include "collectives/search/searches.h"

namespace stepcast::collectives {
namespace {

/// Each tree carries a share of the elements by its rate; pieces follow each other up and down.
CollectivePlan plan_tree_packing(const Request& request) {
  const TreeFlow flow = request.operation == Operation::all_reduce  ? TreeFlow::up_and_down
                        : request.operation == Operation::broadcast ? TreeFlow::down
                                                                    : TreeFlow::up;
  std::vector<Tree> trees;
  std::vector<double> until;  // bytes per second of the trees so far
  double sum = 0;
  for (const PackedTree& packed : trees_of(request.links, flow)) {
    trees.push_back(packed.tree);
    until.push_back(sum += packed.rate);
  }
  std::vector<Range> shares;
  std::int64_t begin = 0;
  for (std::size_t k = 0; k < trees.size(); ++k) {
    const double upto = std::round(static_cast<double>(request.elements) * (until[k] / sum));
    const std::int64_t end = k + 1 == trees.size() ? request.elements : static_cast<std::int64_t>(upto);
    shares.push_back({begin, end - begin});
    begin = end;
  }
  return plan_trees(request, trees, shares);
}

}  // namespace

extern const Algorithm tree_packing;
constinit const Algorithm tree_packing{
    .name = "tree-packing",
    .summary = "spanning trees packed into the links that there are, each with a share of the data by its rate",
    .source = "Wang et al., Blink, MLSys 2020, arXiv 1910.04940",
    .needs_links = true,
    .needs = "at most 72 ranks, whose links it searches",
    .automatic = [](const Request&) { return false; },
    .supports =
        [](const Request& request) {
          return request.ranks >= 2 && request.links.ranks == request.ranks &&
                 (request.operation == Operation::all_reduce || request.operation == Operation::broadcast ||
                  request.operation == Operation::reduce);
        },
    .plan = plan_tree_packing,
    .symmetry = [](const Request&) { return Symmetry{}; }};

}  // namespace stepcast::collectives
