#pragma once

#include <span>
#include <string_view>

#include "schedules/pipeline/pipeline.h"

namespace stepcast::schedules {

/// Every schedule, in the order tables print them.
std::span<const PipelineSchedule* const> pipelines();

/// nullptr: no such name.
const PipelineSchedule* find_pipeline(std::string_view name);

}  // namespace stepcast::schedules
