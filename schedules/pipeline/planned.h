#pragma once

#include <cstdint>
#include <vector>

#include "scenario/scenario.h"
#include "schedules/pipeline/pipeline.h"

namespace stepcast::schedules {

/// The pipeline that a scenario asks for, or the same with fewer micro-batches.
struct PlannedPipeline {
  Shape shape;
  std::vector<StageOrder> orders;
  /// Micro-batches of the step that shape and orders do not have: so many periods of the schedule are left out of the
  /// middle of every order, where nothing happens that does not happen in those before and behind. `period`: of one.
  std::uint32_t left_out = 0, period = 0;
  std::vector<std::uint32_t> weight_versions;  ///< per stage
  Updates updates = Updates::after_flush;
  /// A pipeline that never drains has no first and last step: so many steps are run, one after the other, of which
  /// `measured` (from 0) stands for all: it is past the beginning and before the end. Shape and orders cover them all.
  std::uint32_t steps = 1, measured = 0;
};

/// Steps of a pipeline that never drains: so many are run, of which this one (from 0) is measured.
struct SimulatedSteps {
  std::uint32_t steps = 1, measured = 0;
};
SimulatedSteps simulated_steps(const Scenario& scenario);

/// The shape of one step. Requires a name of pipelines() or kCustom, whose orders read_orders() understands.
Shape planned_shape(const Scenario& scenario, std::uint32_t micro_batches);

/// With all micro-batches. Requires check() to be empty.
PlannedPipeline whole_pipeline(const Scenario& scenario);

/// With as few micro-batches as show everything that a stage does and holds, if the schedule says how it repeats: for
/// one that has hundreds of them, far fewer passes to write down and to go through. Requires check() to be empty.
PlannedPipeline brief_pipeline(const Scenario& scenario);

/// With fewer micro-batches than a brief pipeline's step has: all of them less a multiple of its period.
PlannedPipeline with_micro_batches(const Scenario& scenario, const PlannedPipeline& brief, std::uint32_t micro_batches);

}  // namespace stepcast::schedules
