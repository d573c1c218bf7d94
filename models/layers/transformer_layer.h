#pragma once

#include "models/layers/operator_list.h"
#include "models/layers/writer.h"
#include "scenario/scenario.h"

namespace stepcast::schedules {

/// What follows attention in a layer: norm, feed-forward block or experts, residual.
void second_half(Writer& writer, FeedForward kind = FeedForward::dense);

/// A layer of self-attention and what follows it.
OperatorList layer_operators(const Scenario& scenario, const StackSizes& sizes, FeedForward kind = FeedForward::dense);

}  // namespace stepcast::schedules
