#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "schedules/pipeline/pipeline.h"
#include "schedules/scenario.h"

namespace stepcast::schedules {

/// The pipeline that a scenario asks for.
struct PlannedPipeline {
  Shape shape;
  std::vector<StageOrder> orders;
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

/// Requires check() to be empty.
PlannedPipeline planned_pipeline(const Scenario& scenario);

}  // namespace stepcast::schedules
