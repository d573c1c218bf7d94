#include <gmock/gmock.h>

#include <limits>
#include <set>

#include "schedules/pipeline/placement.h"
#include "tests/schedules/pipeline/ideal_run.h"

namespace stepcast::schedules::pipeline_tests {
namespace {

constexpr std::uint32_t kMost = std::numeric_limits<std::uint32_t>::max();

TEST(Pipelines, EachHasItsOwnNameAndIsFoundByIt) {
  std::set<std::string_view> names;
  for (const PipelineSchedule* schedule : pipelines()) {
    EXPECT_TRUE(names.insert(schedule->name).second) << schedule->name;
    EXPECT_EQ(find_pipeline(schedule->name), schedule);
    EXPECT_FALSE(schedule->summary.empty()) << schedule->name;
    EXPECT_FALSE(schedule->source.empty()) << schedule->name;
  }
  EXPECT_EQ(find_pipeline("1F1B"), nullptr);
  EXPECT_EQ(find_pipeline(""), nullptr);
}

TEST(Pipelines, EverySupportedShapeIsValidAndNoFasterThanItsWork) {
  for (const PipelineSchedule* schedule : pipelines()) {
    for (std::uint32_t p = 1; p <= 9; ++p) {
      for (std::uint32_t m = 1; m <= 20; ++m) {
        for (std::uint32_t v = 1; v <= 3; ++v) {
          const Shape shape = shape_of(*schedule, p, m, v);
          if (!schedule->supports(shape).empty()) continue;
          const std::vector<StageOrder> all = orders(*schedule, shape);
          ASSERT_THAT(validate(shape, all).problems, ::testing::IsEmpty()) << schedule->name << ' ' << text(shape);
          const IdealTimes times = ideal_times(shape, all, picoseconds(3), picoseconds(5));
          EXPECT_GE(times.end, picoseconds(8) * (std::int64_t{m} * shape.virtual_stages / copies(shape)))
              << schedule->name << ' ' << text(shape);
        }
      }
    }
  }
}

TEST(Pipelines, RefuseShapesOfNothingAndOfTooMuch) {
  using ::testing::HasSubstr;
  for (const PipelineSchedule* schedule : pipelines()) {
    EXPECT_EQ(schedule->supports({0, 4, 1}), "a pipeline needs at least 1 stage, found 0");
    EXPECT_EQ(schedule->supports({4, 0, 1}), "a pipeline needs at least 1 micro-batch, found 0");
    EXPECT_EQ(schedule->supports({4, 4, 0}), "a pipeline stage needs at least 1 virtual stage, found 0");
    EXPECT_THAT(schedule->supports({kMost, kMost, 1}), HasSubstr("more passes than can be numbered"));
    EXPECT_THAT(schedule->supports({1, kMost, kMost}), HasSubstr("more passes than can be numbered"));
    EXPECT_THAT(schedule->supports({kMost, kMost, kMost}), HasSubstr("more passes than can be numbered"));
  }
}

}  // namespace
}  // namespace stepcast::schedules::pipeline_tests
