#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "schedules/pipeline/ideal.h"
#include "schedules/pipeline/pipelines.h"
#include "schedules/pipeline/shape.h"
#include "schedules/pipeline/validate.h"

namespace stepcast::schedules::pipeline_tests {

/// One schedule on one shape: validated, then run on sim with equal stages and free hand-offs.
struct IdealRun {
  Time end{};
  double bubble = 0;
  std::vector<std::uint32_t> in_flight;
};

inline IdealRun run_ideal(std::string_view name, Shape shape, Time forward, Time backward) {
  const PipelineSchedule* schedule = find_pipeline(name);
  if (schedule == nullptr) {
    ADD_FAILURE() << "no schedule named " << name;
    return {};
  }
  EXPECT_EQ(schedule->supports(shape), "");
  const std::vector<StageOrder> all = orders(*schedule, shape);
  const Validation validation = validate(shape, all);
  EXPECT_EQ(validation.problems, std::vector<std::string>{});
  const IdealTimes times = ideal_times(shape, all, forward, backward);
  return {times.end, bubble_fraction(times), validation.most_in_flight};
}

/// For messages of failed checks.
inline std::string text(Shape shape) {
  return "p=" + std::to_string(shape.stages) + " m=" + std::to_string(shape.micro_batches) +
         " v=" + std::to_string(shape.virtual_stages);
}

struct Costs {
  Time forward, backward;
};
/// Equal, the usual twice, and a pair that divides nothing.
inline constexpr Costs kCosts[] = {
    {picoseconds(1), picoseconds(1)}, {picoseconds(7), picoseconds(14)}, {picoseconds(1009), picoseconds(2003)}};

}  // namespace stepcast::schedules::pipeline_tests
