#pragma once

#include <string>
#include <string_view>

#include "schedules/pipeline/pipeline.h"

namespace stepcast::schedules {

/// Why no schedule can run this shape, in the user's words; "" if one could: every count at least 1, and few enough
/// forwards (2^30) that passes can be numbered in 32 bits.
std::string shape_problem(Shape shape);

/// The same for schedules with one model chunk per stage: also refuses more. `name` is the schedule's.
std::string single_chunk_problem(std::string_view name, Shape shape);

/// The same for schedules whose stages hold two chunks, on one way through the stages and on the way back.
std::string two_way_problem(std::string_view name, Shape shape);

/// Every stage's order, stage 0 first. Requires schedule.supports(shape) == "".
std::vector<StageOrder> orders(const PipelineSchedule& schedule, Shape shape);

}  // namespace stepcast::schedules
