#pragma once

#include "schedules/step/step.h"
#include "schedules/step/traffic.h"
#include "schedules/step/wires.h"

namespace stepcast::schedules {

/// Lowers one training step to a task graph. Tensor collectives are inside the passes' durations; stage-to-stage sends,
/// data-parallel collectives, the tied embeddings' sum and the optimizer are tasks of their own, tagged by their wire.
Step build_step(const StepInput& input, const Traffic& traffic, Wires& wires);

}  // namespace stepcast::schedules
