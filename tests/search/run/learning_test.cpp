#include "search/run/learning.h"

#include <gtest/gtest.h>

namespace stepcast::search {
namespace {

using schedules::TrainingRun;

// McCandlish et al. 2018, eq. 2.11: (S / S_min - 1) (E / E_min - 1) = 1, for every batch.
TEST(Learning, TradesStepsForSamplesAsTheCriticalBatchSays) {
  const TrainingRun run{.critical_batch = 2000};
  const double fewest_samples = 1e6, fewest_steps = fewest_samples / 2000;
  for (const std::int64_t batch : {1, 10, 500, 2000, 10'000, 1'000'000}) {
    const double samples = fewest_samples * samples_for_one(run, batch), steps = samples / static_cast<double>(batch);
    EXPECT_NEAR((steps / fewest_steps - 1) * (samples / fewest_samples - 1), 1, 1e-9) << batch;
  }
  EXPECT_DOUBLE_EQ(samples_for_one(run, 2000), 2);
}

TEST(Learning, TheStatedTargetIsOfTheStatedBatch) {
  const TrainingRun run{.critical_batch = 2000};
  EXPECT_DOUBLE_EQ(samples_to_target(run, 3e6, 1000, 1000), 3e6);
  EXPECT_DOUBLE_EQ(samples_to_target(run, 3e6, 1000, 4000), 6e6);
  EXPECT_DOUBLE_EQ(samples_to_target({}, 3e6, 1000, 4000), 3e6);
}

}  // namespace
}  // namespace stepcast::search
