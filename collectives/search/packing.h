#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "collectives/link_view.h"
#include "collectives/spanning_tree.h"

namespace stepcast::collectives {

struct PackedTree {
  Tree tree;
  double rate = 0;  ///< bytes per second that flow along it
};

/// What flows along a tree's edges: to the children, or to the parents and back to the children.
enum class TreeFlow : std::uint8_t { down, up, up_and_down };

/// Spanning trees over all ranks with rates that no link is too narrow for, of almost the largest sum, and few of them.
/// Trees are found by multiplicative weights (every link has a price that grows with its load; the cheapest tree gets
/// what it can carry; Garg and Koenemann, FOCS 1998), rates by a linear program over the trees found, and then trees
/// are dropped one by one while the sum stays within 5 % of the largest. Flows down and up have rank 0 as their root;
/// with both, trees have a root in their middle. Empty where the view is.
/// Source: Wang et al., Blink, MLSys 2020, sections 3.2 to 3.4 (rooted packings; undirected trees for all-reduce).
std::vector<PackedTree> pack_trees(const LinkView& links, TreeFlow flow);

}  // namespace stepcast::collectives
