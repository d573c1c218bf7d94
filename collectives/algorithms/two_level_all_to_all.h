#pragma once

#include "collectives/request.h"

namespace stepcast::collectives {

/// All-to-all in two steps. Inside its node a rank hands each neighbour (local index m) all that it has for local index
/// m of any node; then each rank sends every node, on its own rail, what its whole node has for it there: gpus times
/// fewer and gpus times larger messages cross the network. Handles uneven sizes. Requires all_to_all.
/// Source: Hwang et al., Tutel, MLSys 2023, section 3.4 (two-dimensional hierarchical all-to-all); NCCL 2.12 calls the
/// first step PXN.
CollectivePlan plan_two_level_all_to_all(const Request& request);

}  // namespace stepcast::collectives
