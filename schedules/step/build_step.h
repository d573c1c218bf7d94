#pragma once

#include "schedules/step/inner_traffic.h"
#include "schedules/step/step.h"
#include "schedules/step/traffic.h"

namespace stepcast::schedules {

/// One training step as a program. Stage-to-stage sends, data-parallel collectives, the tied embeddings' sum and the
/// optimizer are tasks of their own. Collectives inside layers are in the passes' durations; those that `inner` says
/// meet other traffic are tasks too, and a pass is what runs between them.
Step build_step(const StepInput& input, const Traffic& traffic, const InnerTraffic* inner);

}  // namespace stepcast::schedules
