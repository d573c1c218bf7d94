#include "schedules/pipeline/planned.h"

#include <algorithm>

#include "schedules/pipeline/custom.h"
#include "schedules/pipeline/pipelines.h"
#include "schedules/pipeline/shape.h"

namespace stepcast::schedules {
namespace {

/// Micro-batches, in pipeline depths, after which the start is forgotten: one to fill it, one until the first come
/// back, and as much again.
constexpr std::uint32_t kDepthsToSettle = 4;

/// What a brief pipeline shows: twice its depth, to fill and to drain, and between them some periods or micro-batches.
constexpr std::uint32_t kDepthsToShow = 2, kPeriodsToShow = 4, kMicroBatchesToShow = 8;

std::uint32_t quotient_up(std::uint32_t a, std::uint32_t b) { return (a + b - 1) / b; }

std::vector<std::uint32_t> weight_versions(const Scenario& s, const Shape& shape) {
  std::vector<std::uint32_t> versions(shape.stages, 1);
  const PipelineSchedule* schedule = find_pipeline(s.pipeline.schedule);
  if (schedule == nullptr || schedule->weight_versions == nullptr) return versions;
  for (std::uint32_t stage = 0; stage < shape.stages; ++stage)
    versions[stage] = schedule->weight_versions(shape, StageId{stage});
  return versions;
}

}  // namespace

Shape planned_shape(const Scenario& s, std::uint32_t micro_batches) {
  const PipelinePlan& plan = s.pipeline;
  if (plan.schedule == kCustom)
    return {s.parallelism.pipeline, micro_batches, plan.virtual_stages, read_orders(plan.orders).splits_backward,
            placement_of(plan)};
  Shape shape = shape_of(*find_pipeline(plan.schedule), s.parallelism.pipeline, micro_batches, plan.virtual_stages);
  shape.micro_batch_group = plan.micro_batch_group.value_or(0);
  return shape;
}

SimulatedSteps simulated_steps(const Scenario& s) {
  const std::uint32_t stages = s.parallelism.pipeline, of_step = micro_batches(s);
  const std::uint32_t measured = quotient_up(kDepthsToSettle * stages, of_step);
  return {measured + 1 + quotient_up(stages, of_step), measured};
}

PlannedPipeline whole_pipeline(const Scenario& s) {
  const std::uint32_t of_step = micro_batches(s);
  PlannedPipeline planned;
  planned.shape = planned_shape(s, of_step);
  planned.weight_versions = weight_versions(s, planned.shape);
  if (s.pipeline.schedule == kCustom) {
    planned.orders = read_orders(s.pipeline.orders).stages;
    return planned;
  }
  const PipelineSchedule& schedule = *find_pipeline(s.pipeline.schedule);
  planned.updates = schedule.updates;
  if (schedule.updates != Updates::after_flush) {
    const SimulatedSteps simulated = simulated_steps(s);
    planned.measured = simulated.measured;
    planned.steps = simulated.steps;
    planned.shape.micro_batches = planned.steps * of_step;
  }
  planned.orders = orders(schedule, planned.shape);
  return planned;
}

PlannedPipeline brief_pipeline(const Scenario& s) {
  const PipelineSchedule* schedule = s.pipeline.schedule == kCustom ? nullptr : find_pipeline(s.pipeline.schedule);
  if (schedule == nullptr || schedule->period == nullptr) return whole_pipeline(s);
  const std::uint32_t all = micro_batches(s), period = schedule->period(planned_shape(s, all));
  const std::uint32_t enough =
      kDepthsToShow * s.parallelism.pipeline + std::max(kPeriodsToShow * period, kMicroBatchesToShow);
  if (all < enough + period) return whole_pipeline(s);
  PlannedPipeline planned;
  planned.period = period;
  planned.shape = planned_shape(s, all);
  planned.weight_versions = weight_versions(s, planned.shape);
  planned.left_out = all;
  return with_micro_batches(s, planned, all - (all - enough) / period * period);
}

PlannedPipeline with_micro_batches(const Scenario& s, const PlannedPipeline& brief, std::uint32_t micro_batches_left) {
  const std::uint32_t all = micro_batches(s);
  PlannedPipeline planned = brief;
  planned.left_out = all - micro_batches_left;
  planned.shape = planned_shape(s, micro_batches_left);
  const PipelineSchedule& schedule = *find_pipeline(s.pipeline.schedule);
  if (schedule.in_groups && planned.shape.virtual_stages > 1) planned.shape.micro_batch_group = brief.period;
  planned.orders = orders(schedule, planned.shape);
  return planned;
}

}  // namespace stepcast::schedules
