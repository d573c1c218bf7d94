#pragma once

#include <cstdint>
#include <vector>

#include "collectives/link_view.h"

namespace stepcast::collectives {

/// Rings through all ranks over direct NVLinks, as many as the links allow: no direction of a link is in two of them.
/// Every ring starts at rank 0. First rings that are walked both ways (as NCCL's are), then, where a rank's links would
/// carry more, single ones; a backtracking search that tries `effort` steps of each kind at most, so that beyond about
/// 8 ranks the answer may not be the largest. Empty: no ring.
std::vector<std::vector<std::uint32_t>> edge_disjoint_rings(const LinkView& links, std::uint32_t effort = 200'000);

}  // namespace stepcast::collectives
