#pragma once

#include <span>

#include "schedules/results/results.h"
#include "schedules/step/run_step.h"
#include "schedules/step/step.h"

namespace stepcast::schedules {

/// What a report draws of a step that was built with `trace`. `length`: the time that links' use is a share of; `more`:
/// what copies load. The pieces of `input` must keep shares.
StepDetail step_detail(const StepInput& input, const StepRun& run, Time length,
                       std::span<const collectives::Timing::Load> more);

}  // namespace stepcast::schedules
