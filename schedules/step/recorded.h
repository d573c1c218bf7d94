#pragma once

#include <memory>
#include <optional>

#include "schedules/step/run_step.h"
#include "workload/recorded_program.h"

namespace stepcast::schedules {

/// A step that was recorded and run, with all that says how long it takes. `steps`: that it stands for.
std::shared_ptr<const workload::RecordedProgram> recorded(const StepRun& run, const StepInput& input,
                                                          std::uint32_t steps = 1);

}  // namespace stepcast::schedules
