#pragma once

#include <cstdint>
#include <vector>

#include "collectives/spanning_tree.h"

namespace stepcast::collectives {

/// The cheapest tree in which every rank is reached from the root; cost[from * ranks + to], infinite where there is no
/// way. Requires that there is such a tree. O(ranks^3).
/// Source: Chu and Liu, Scientia Sinica 14, 1965; Edmonds, J. Res. Nat. Bur. Standards 71B, 1967.
Tree cheapest_arborescence(std::uint32_t ranks, std::uint32_t root, const std::vector<double>& cost);

}  // namespace stepcast::collectives
