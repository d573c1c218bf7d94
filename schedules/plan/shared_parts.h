#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "models/layers/blocks.h"
#include "models/layers/weight_work.h"
#include "scenario/scenario.h"
#include "schedules/pipeline/planned.h"
#include "schedules/plan/memory.h"

namespace stepcast::schedules {

/// What many plans have in common, made once: the pipeline, which plans with other data-parallel states share, and the
/// model's blocks, which nearly all do. For scenarios that differ in the schedule, the virtual stages, the layers of
/// each stage and the data-parallel state alone. Not for use from several threads at once.
class SharedParts {
 public:
  /// brief_pipeline(scenario); one like the last is not made anew.
  std::shared_ptr<const PlannedPipeline> pipeline(const Scenario& scenario);
  /// What the stages of the pipeline keep that was asked for last.
  SavedPeaks& saved_peaks() { return peaks_; }

  /// blocks(scenario), frozen as far as it says.
  std::shared_ptr<const Blocks> model(const Scenario& scenario);

 private:
  /// All that a pipeline depends on whose orders are not written out: stages, micro-batches, and what PipelinePlan
  /// says.
  using PipelineKey =
      std::tuple<std::uint32_t, std::uint32_t, std::string, std::uint32_t, std::optional<std::uint32_t>>;
  PipelineKey of_pipeline_;
  std::shared_ptr<const PlannedPipeline> pipeline_;  ///< that was asked for last
  SavedPeaks peaks_;                                 ///< of it
  /// By what blocks depend on of all that differs: what passes do with weights, and whether the loss is a block.
  std::map<std::pair<WeightWork, bool>, std::shared_ptr<const Blocks>> models_;
};

}  // namespace stepcast::schedules
