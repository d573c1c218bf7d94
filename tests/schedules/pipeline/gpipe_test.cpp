#include "tests/schedules/pipeline/ideal_run.h"

namespace stepcast::schedules::pipeline_tests {
namespace {

// Huang et al. 2019: bubble (p-1)/(m+p-1) of the step.
TEST(GPipe, TakesTheClosedFormAndHoldsEveryMicroBatch) {
  for (std::uint32_t p = 1; p <= 8; ++p) {
    for (std::uint32_t m = 1; m <= 24; ++m) {
      for (const Costs& c : kCosts) {
        const IdealRun run = run_ideal("gpipe", {p, m, 1}, c.forward, c.backward);
        EXPECT_EQ(run.end, (c.forward + c.backward) * (m + p - 1)) << text({p, m, 1});
        EXPECT_NEAR(run.bubble, (p - 1.0) / (m + p - 1.0), 1e-12) << text({p, m, 1});
        EXPECT_EQ(run.in_flight, std::vector<std::uint32_t>(p, m)) << text({p, m, 1});
      }
    }
  }
}

TEST(GPipe, BackwardsRunLastMicroBatchFirst) {
  const StageOrder expected{{PassKind::forward, MicroBatchId{0}},  {PassKind::forward, MicroBatchId{1}},
                            {PassKind::forward, MicroBatchId{2}},  {PassKind::backward, MicroBatchId{2}},
                            {PassKind::backward, MicroBatchId{1}}, {PassKind::backward, MicroBatchId{0}}};
  EXPECT_EQ(find_pipeline("gpipe")->order({2, 3, 1}, StageId{0}), expected);
}

}  // namespace
}  // namespace stepcast::schedules::pipeline_tests
