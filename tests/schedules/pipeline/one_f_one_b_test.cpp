#include <algorithm>

#include "tests/schedules/pipeline/ideal_run.h"

namespace stepcast::schedules::pipeline_tests {
namespace {

// Narayanan et al. 2021, section 2.2.1. The time alone would miss one warm-up too many, so both are checked.
TEST(OneFOneB, TakesTheClosedFormAndHoldsOneMicroBatchPerStageFromHereOn) {
  for (std::uint32_t p = 1; p <= 8; ++p) {
    for (std::uint32_t m = 1; m <= 24; ++m) {
      std::vector<std::uint32_t> held;
      for (std::uint32_t s = 0; s < p; ++s) held.push_back(std::min(m, p - s));
      for (const Costs& c : kCosts) {
        const IdealRun run = run_ideal("1f1b", {p, m, 1}, c.forward, c.backward);
        EXPECT_EQ(run.end, (c.forward + c.backward) * (m + p - 1)) << text({p, m, 1});
        EXPECT_NEAR(run.bubble, (p - 1.0) / (m + p - 1.0), 1e-12) << text({p, m, 1});
        EXPECT_EQ(run.in_flight, held) << text({p, m, 1});
      }
    }
  }
}

TEST(OneFOneB, TheLastStageAlternatesFromTheStart) {
  const StageOrder expected{{PassKind::forward, MicroBatchId{0}},
                            {PassKind::backward, MicroBatchId{0}},
                            {PassKind::forward, MicroBatchId{1}},
                            {PassKind::backward, MicroBatchId{1}}};
  EXPECT_EQ(find_pipeline("1f1b")->order({4, 2, 1}, StageId{3}), expected);
}

}  // namespace
}  // namespace stepcast::schedules::pipeline_tests
