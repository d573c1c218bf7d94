#include "tests/schedules/pipeline/ideal_run.h"

namespace stepcast::schedules::pipeline_tests {
namespace {

TEST(Vanilla, OneStageWorksAtATime) {
  for (std::uint32_t p = 1; p <= 8; ++p) {
    for (std::uint32_t m = 1; m <= 24; ++m) {
      for (const Costs& c : kCosts) {
        const IdealRun run = run_ideal("vanilla", {p, m, 1}, c.forward, c.backward);
        EXPECT_EQ(run.end, (c.forward + c.backward) * (std::int64_t{m} * p)) << text({p, m, 1});
        EXPECT_DOUBLE_EQ(1 - run.bubble, 1.0 / p) << text({p, m, 1});
        EXPECT_EQ(run.in_flight, std::vector<std::uint32_t>(p, 1));
      }
    }
  }
}

// The classic picture of why to pipeline: 3 inputs through 3 stages, forwards only.
TEST(Vanilla, ThreeInputsOnThreeStagesTakeNineForwardSlotsAndFivePipelined) {
  const Time slot = picoseconds(1), nothing{};
  EXPECT_EQ(run_ideal("vanilla", {3, 3, 1}, slot, nothing).end, picoseconds(9));
  EXPECT_EQ(run_ideal("gpipe", {3, 3, 1}, slot, nothing).end, picoseconds(5));
}

TEST(Vanilla, RefusesVirtualStagesInTheUsersWords) {
  EXPECT_EQ(find_pipeline("vanilla")->supports({4, 8, 2}),
            "vanilla has one model chunk per stage, found virtual stages (2); use interleaved-1f1b for more");
}

}  // namespace
}  // namespace stepcast::schedules::pipeline_tests
