#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "collectives/link_view.h"

namespace stepcast::collectives {

/// All ranks of a view in some order: a ring, or in a node among others (LinkView::departs) a walk from the GPU where
/// its ring arrives to the one where it departs.
using Chain = std::vector<std::uint32_t>;

/// Bytes per second at which all these chains can move at once, each of them as much as any other; infinite for none.
double rate_of(const LinkView& view, std::span<const Chain> chains);

/// Chains that can all move `rate` at once, as many as are found, `most` at most: first those that are walked both
/// ways, then, if that gives more, single ones. With `nvlink`, over NVLinks alone. Depth first, up to `effort` steps of
/// each kind: beyond about 8 ranks the answer may not be the largest. Deterministic.
std::vector<Chain> chains_at(const LinkView& view, double rate, bool nvlink, std::uint32_t most,
                             std::uint32_t effort = 100'000);

/// The chains that move most together: those over NVLinks if there are any, else over whatever joins the ranks. Tries
/// each link's rate, and its halves, thirds and quarters, from the fastest on, as bundles of links are split over
/// several chains (NCCL's search tries a list of rates likewise). Of equal ones the fewest chains.
std::vector<Chain> best_chains(const LinkView& view);

}  // namespace stepcast::collectives
