#include "schedules/plan/shared_parts.h"

#include <utility>

#include "models/layers/frozen.h"
#include "models/layers/model_blocks.h"
#include "models/layers/partition.h"
#include "schedules/pipeline/custom.h"

namespace stepcast::schedules {

std::shared_ptr<const PlannedPipeline> SharedParts::pipeline(const Scenario& s) {
  const PipelinePlan& plan = s.pipeline;
  PipelineKey key{s.parallelism.pipeline, micro_batches(s), plan.schedule, plan.virtual_stages, plan.micro_batch_group};
  if (pipeline_ != nullptr && plan.schedule != kCustom && key == of_pipeline_) return pipeline_;
  pipeline_ = std::make_shared<const PlannedPipeline>(brief_pipeline(s));
  of_pipeline_ = std::move(key);
  peaks_ = {};
  return pipeline_;
}

std::shared_ptr<const Blocks> SharedParts::model(const Scenario& s) {
  const auto make = [&] {
    Blocks made = blocks(s);
    freeze(made, s.training);
    return std::make_shared<const Blocks>(std::move(made));
  };
  if (s.model.family == Family::t5) return make();  // whose layers differ by the chunk that they are in
  std::shared_ptr<const Blocks>& known = models_[{weight_work(s), has_loss_block(s)}];
  if (known == nullptr) known = make();
  return known;
}

}  // namespace stepcast::schedules
