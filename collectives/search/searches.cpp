#include "collectives/search/searches.h"

#include "collectives/search/ring_search.h"

namespace stepcast::collectives {

const std::vector<std::vector<std::uint32_t>>& Searches::rings(const LinkView& links) {
  std::call_once(rings_once_, [&] { rings_ = edge_disjoint_rings(links); });
  return rings_;
}

const std::vector<PackedTree>& Searches::trees(const LinkView& links, TreeFlow flow) {
  const auto at = static_cast<std::size_t>(flow);
  std::call_once(trees_once_.at(at), [&] { trees_[at] = pack_trees(links, flow); });
  return trees_[at];
}

std::vector<std::vector<std::uint32_t>> rings_of(const LinkView& links) {
  if (links.empty()) return {};
  return links.searches->rings(links);
}

std::vector<PackedTree> trees_of(const LinkView& links, TreeFlow flow) {
  if (links.empty()) return {};
  return links.searches->trees(links, flow);
}

}  // namespace stepcast::collectives
