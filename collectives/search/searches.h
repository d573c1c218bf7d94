#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <vector>

#include "collectives/link_view.h"
#include "collectives/search/packing.h"

namespace stepcast::collectives {

/// What the searches over one view found. A search depends on neither the operation nor the size, so each runs once for
/// all that is planned over the view; its copies share what was found.
class Searches {
 public:
  /// edge_disjoint_rings() of the view.
  const std::vector<std::vector<std::uint32_t>>& rings(const LinkView& links);
  /// pack_trees() of the view.
  const std::vector<PackedTree>& trees(const LinkView& links, TreeFlow flow);

 private:
  std::once_flag rings_once_;
  std::vector<std::vector<std::uint32_t>> rings_;
  std::array<std::once_flag, 3> trees_once_;  // by TreeFlow
  std::array<std::vector<PackedTree>, 3> trees_;
};

/// The same from the view's own Searches. Empty where the view is.
std::vector<std::vector<std::uint32_t>> rings_of(const LinkView& links);
std::vector<PackedTree> trees_of(const LinkView& links, TreeFlow flow);

}  // namespace stepcast::collectives
