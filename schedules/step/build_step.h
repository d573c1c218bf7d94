#pragma once

#include "schedules/step/step.h"
#include "schedules/step/traffic.h"

namespace stepcast::schedules {

/// One training step as a program. Stage-to-stage sends, data-parallel collectives, the tied embeddings' sum and the
/// optimizer are tasks of their own. Collectives inside layers are in the passes' durations; with `input.transfers`
/// they too are tasks, and a pass is the kernels between them.
Step build_step(const StepInput& input, const Traffic& traffic);

}  // namespace stepcast::schedules
