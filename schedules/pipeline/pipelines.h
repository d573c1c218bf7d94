#pragma once

#include <span>
#include <string_view>

#include "scenario/pipeline_plan.h"
#include "schedules/pipeline/pipeline.h"

namespace stepcast::schedules {

/// Every schedule, in the order tables print them.
std::span<const PipelineSchedule* const> pipelines();

/// nullptr: no such name.
const PipelineSchedule* find_pipeline(std::string_view name);

/// Where chunks are: as the plan's schedule says, or of custom orders the plan itself.
Placement placement_of(const PipelinePlan& plan);

}  // namespace stepcast::schedules
