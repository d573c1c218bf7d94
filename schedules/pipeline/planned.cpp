#include "schedules/pipeline/planned.h"

#include "schedules/pipeline/custom.h"
#include "schedules/pipeline/pipelines.h"
#include "schedules/pipeline/shape.h"

namespace stepcast::schedules {
namespace {

/// Micro-batches, in pipeline depths, after which the start is forgotten: one to fill it, one until the first come
/// back, and as much again.
constexpr std::uint32_t kDepthsToSettle = 4;

std::uint32_t quotient_up(std::uint32_t a, std::uint32_t b) { return (a + b - 1) / b; }

}  // namespace

Shape planned_shape(const Scenario& s, std::uint32_t micro_batches) {
  const PipelinePlan& plan = s.pipeline;
  if (plan.schedule == kCustom)
    return {s.parallelism.pipeline, micro_batches, plan.virtual_stages, read_orders(plan.orders).splits_backward,
            plan.placement};
  Shape shape = shape_of(*find_pipeline(plan.schedule), s.parallelism.pipeline, micro_batches, plan.virtual_stages);
  shape.micro_batch_group = plan.micro_batch_group.value_or(0);
  return shape;
}

SimulatedSteps simulated_steps(const Scenario& s) {
  const std::uint32_t stages = s.parallelism.pipeline, of_step = micro_batches(s);
  const std::uint32_t measured = quotient_up(kDepthsToSettle * stages, of_step);
  return {measured + 1 + quotient_up(stages, of_step), measured};
}

PlannedPipeline planned_pipeline(const Scenario& s) {
  const std::uint32_t stages = s.parallelism.pipeline, of_step = micro_batches(s);
  PlannedPipeline planned;
  planned.weight_versions.assign(stages, 1);
  planned.shape = planned_shape(s, of_step);
  if (s.pipeline.schedule == kCustom) {
    planned.orders = read_orders(s.pipeline.orders).stages;
    return planned;
  }
  const PipelineSchedule& schedule = *find_pipeline(s.pipeline.schedule);
  planned.updates = schedule.updates;
  if (schedule.weight_versions != nullptr)
    for (std::uint32_t stage = 0; stage < stages; ++stage)
      planned.weight_versions[stage] = schedule.weight_versions(planned.shape, StageId{stage});
  if (schedule.updates != Updates::after_flush) {
    const SimulatedSteps simulated = simulated_steps(s);
    planned.measured = simulated.measured;
    planned.steps = simulated.steps;
    planned.shape.micro_batches = planned.steps * of_step;
  }
  planned.orders = orders(schedule, planned.shape);
  return planned;
}

}  // namespace stepcast::schedules
