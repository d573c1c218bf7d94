#pragma once

#include <vector>

#include "models/layers/blocks.h"
#include "scenario/scenario.h"
#include "schedules/pipeline/planned.h"

namespace stepcast::schedules {

/// The model as the stages of a scenario's pipeline hold it.
struct StagedModel {
  PlannedPipeline pipeline;                     ///< brief
  std::vector<std::vector<BlockRange>> chunks;  ///< of every stage, one for each virtual stage
  std::vector<Scenario> kinds;                  ///< as kinds_of() has them
  std::vector<Blocks> models;                   ///< of each kind, with what the scenario recomputes in each chunk
};

/// Requires check() of the scenario to be empty. `pipelines`: remembers the last pipeline; none: it is made.
StagedModel staged_model(const Scenario& scenario, std::vector<Scenario> kinds, BriefPipelines* pipelines = nullptr);

}  // namespace stepcast::schedules
