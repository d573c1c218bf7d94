#pragma once

#include "schedules/model/writer.h"

namespace stepcast::schedules {

/// What selective recomputation repeats of a layer of self-attention and feed-forward block before it goes backward:
/// the forward operators of the scenario's recomputed modules.
Operators repeated_modules(const Scenario& scenario, const StackSizes& sizes, FeedForward kind);

}  // namespace stepcast::schedules
