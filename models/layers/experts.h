#pragma once

#include "models/layers/writer.h"

namespace stepcast::schedules {

/// A feed-forward block of experts between norm and residual: the router, copies of tokens to their experts' ranks and
/// back, the experts' multiplies, the shared experts. Dispatch and combine are all-to-alls of tokens x top-k x hidden
/// (Lepikhin et al. 2020, GShard, arXiv 2006.16668). Experts are whole on their rank, whatever the tensor ranks.
/// Backward keeps the router's scores, the experts' inputs, gates, ups and products, and the shared experts'.
void expert_block(Writer& writer);

}  // namespace stepcast::schedules
