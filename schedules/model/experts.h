#pragma once

#include "schedules/model/writer.h"

namespace stepcast::schedules {

/// A feed-forward block of experts between norm and residual: the router, copies of tokens to their experts' ranks and
/// back, the experts' multiplies, the shared experts. Dispatch and combine are all-to-alls of tokens x top-k x hidden
/// (Lepikhin et al. 2020, GShard, arXiv 2006.16668). Experts are whole on their rank, whatever the tensor ranks.
void expert_block(Writer& writer);
void expert_block_backward(Writer& writer);

/// Of its forward pass, what stands between the experts' two multiplies.
void experts_activation(Writer& writer);

/// Bytes that it keeps for the backward pass, its norm's input and output not counted: the router's scores, the
/// experts' inputs, gates, ups and products, and the shared experts'. Products are dropped where they are repeated.
double saved_expert_bytes(const Scenario& scenario, const StackSizes& sizes, bool activation_repeated = false);

}  // namespace stepcast::schedules
