#pragma once

#include "models/layers/operator_list.h"
#include "models/layers/writer.h"
#include "scenario/scenario.h"

namespace stepcast::schedules {

/// What follows attention, or what stands in its place, in a layer: norm, feed-forward block or experts, residual.
void second_half(Writer& writer, FeedForward kind = FeedForward::dense);

/// A layer of these halves.
OperatorList layer_operators(const Scenario& scenario, const StackSizes& sizes, LayerHalves halves = {});

}  // namespace stepcast::schedules
