// Facts that every course on pipelines states.

#include "tests/schedules/pipeline/ideal_run.h"

namespace stepcast::schedules::pipeline_tests {
namespace {

TEST(TextbookPipelines, ModelParallelismWithoutPipeliningUsesATenthOfTenGpus) {
  for (const std::uint32_t m : {1u, 4u, 16u})
    EXPECT_NEAR(run_ideal("vanilla", {10, m, 1}, picoseconds(1), picoseconds(2)).bubble, 0.9, 1e-12);
}

// Forward alone: backward takes no time.
TEST(TextbookPipelines, ForwardOfThreeInputsOnThreeStagesTakesNineSlotsOrFivePipelined) {
  EXPECT_EQ(run_ideal("vanilla", {3, 3, 1}, picoseconds(1), {}).end, picoseconds(9));
  for (const char* name : {"gpipe", "1f1b"})
    EXPECT_EQ(run_ideal(name, {3, 3, 1}, picoseconds(1), {}).end, picoseconds(5)) << name;
}

}  // namespace
}  // namespace stepcast::schedules::pipeline_tests
