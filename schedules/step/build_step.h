#pragma once

#include "schedules/step/step.h"
#include "schedules/step/traffic.h"

namespace stepcast::schedules {

/// One training step as a program. Tensor collectives are inside the passes' durations; stage-to-stage sends,
/// data-parallel collectives, the tied embeddings' sum and the optimizer are tasks of their own.
Step build_step(const StepInput& input, const Traffic& traffic);

}  // namespace stepcast::schedules
