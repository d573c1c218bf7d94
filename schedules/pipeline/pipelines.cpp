#include "schedules/pipeline/pipelines.h"

#include <array>

namespace stepcast::schedules {

extern const PipelineSchedule vanilla;
extern const PipelineSchedule gpipe;
extern const PipelineSchedule one_f_one_b;
extern const PipelineSchedule interleaved_one_f_one_b;
extern const PipelineSchedule combined_one_f_one_b;
extern const PipelineSchedule zero_bubble_h1;
extern const PipelineSchedule zero_bubble_h2;
extern const PipelineSchedule zero_bubble_v;
extern const PipelineSchedule pipedream;
extern const PipelineSchedule pipedream_2bw;
extern const PipelineSchedule chimera;
extern const PipelineSchedule dualpipe;
extern const PipelineSchedule dualpipe_v;

namespace {

constexpr std::array kPipelines{&vanilla,
                                &gpipe,
                                &one_f_one_b,
                                &interleaved_one_f_one_b,
                                &combined_one_f_one_b,
                                &zero_bubble_h1,
                                &zero_bubble_h2,
                                &zero_bubble_v,
                                &pipedream,
                                &pipedream_2bw,
                                &chimera,
                                &dualpipe,
                                &dualpipe_v};

}  // namespace

std::span<const PipelineSchedule* const> pipelines() { return kPipelines; }

const PipelineSchedule* find_pipeline(std::string_view name) {
  for (const PipelineSchedule* schedule : kPipelines) {
    if (schedule->name == name) return schedule;
  }
  return nullptr;
}

Placement placement_of(const PipelinePlan& plan) {
  const PipelineSchedule* schedule = find_pipeline(plan.schedule);
  return schedule != nullptr ? schedule->placement : plan.placement.value_or(Placement::looping);
}

}  // namespace stepcast::schedules
