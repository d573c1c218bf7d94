#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "models/layers/blocks.h"
#include "scenario/scenario.h"
#include "schedules/pipeline/planned.h"
#include "schedules/plan/shared_parts.h"

namespace stepcast::schedules {

/// The model as the stages of a scenario's pipeline hold it.
struct StagedModel {
  std::shared_ptr<const PlannedPipeline> pipeline;    ///< brief
  std::vector<std::vector<BlockRange>> chunks;        ///< of every stage, one for each virtual stage
  std::vector<Scenario> kinds;                        ///< as kinds_of() has them, where there are two; else empty
  std::vector<std::shared_ptr<const Blocks>> models;  ///< of each kind, with what the scenario recomputes in each chunk

  /// `scenario`: the one that it was made of.
  const Scenario& kind(const Scenario& scenario, std::size_t number) const {
    return kinds.empty() ? scenario : kinds[number];
  }
};

/// Requires check() of the scenario to be empty. `kinds`: kinds_of() the scenario; of one kind they may be left out.
/// `shared`: what plans made before had in common with this one; none: all is made.
StagedModel staged_model(const Scenario& scenario, std::vector<Scenario> kinds = {}, SharedParts* shared = nullptr);

}  // namespace stepcast::schedules
