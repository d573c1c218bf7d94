#include "schedules/step/local_steps.h"

#include <gtest/gtest.h>

#include "schedules/forecast.h"
#include "tests/schedules/scenarios.h"

namespace stepcast::schedules {
namespace {

Scenario local(std::uint32_t gpus, std::uint32_t steps) {
  Scenario s = round_numbers(gpus);
  s.parallelism.data = gpus;
  s.data_parallel.local_steps = steps;
  return s;
}

Scenario summed_every_step(std::uint32_t gpus) {
  Scenario s = local(gpus, 1);
  s.data_parallel.overlap = false;
  return s;
}

TEST(LocalSteps, PayOneAllReduceARound) {
  // H steps of compute and update, one exchange of as many bytes as gradients have.
  const TimeSplit one = forecast(summed_every_step(16)).stages[0].time;
  for (const std::uint32_t steps : {2u, 10u, 500u}) {
    const Forecast f = forecast(local(16, steps));
    const Time round = (one.compute + one.optimizer) * steps + one.exposed_data;
    EXPECT_EQ(f.step.value, round.value / steps) << steps;
    EXPECT_EQ(f.stages[0].time.compute, one.compute);
    EXPECT_EQ(f.stages[0].time.exposed_data.value, one.exposed_data.value / steps);
    EXPECT_EQ(f.stages[0].time.sum(), f.step);
  }
}

TEST(LocalSteps, OfAPipelineAreFoldedAsUnfolded) {
  Scenario s = local(16, 8);
  s.parallelism = {.tensor = 2, .pipeline = 2, .data = 4};
  const Forecast folded = forecast(s), unfolded = forecast(s, {.unfold = true});
  EXPECT_EQ(folded.step, unfolded.step);
  for (const std::size_t stage : {0u, 1u}) {
    EXPECT_EQ(folded.stages[stage].time.exposed_data, unfolded.stages[stage].time.exposed_data);
    EXPECT_EQ(folded.stages[stage].time.sum(), folded.step);
    EXPECT_EQ(unfolded.stages[stage].time.sum(), folded.step);
  }
}

TEST(LocalSteps, DoNotHelpASlowGpuButAverageJitter) {
  const auto excess = [](Scenario s, Imperfections bad) {
    s.imperfections = bad;
    const Forecast f = forecast(s);
    return to_seconds(f.step - *f.perfect);
  };
  const Imperfections slow{.slow_gpu = 3, .gpu_speed = 0.8}, jitter{.jitter = 0.2};
  EXPECT_NEAR(excess(local(16, 16), slow), excess(summed_every_step(16), slow), 1e-9);
  // The slowest of 16 sums of 16 draws, not 16 slowest draws: four times less.
  EXPECT_LT(excess(local(16, 16), jitter), 0.5 * excess(summed_every_step(16), jitter));
}

TEST(LocalSteps, ARoundTakesTheLargestOfTheRanksSums) {
  // Of one round of two steps: never less than any rank's own steps, never more than two steps that all wait in.
  Scenario s = local(8, 2), waiting = summed_every_step(8);
  s.imperfections.jitter = waiting.imperfections.jitter = 0.3;
  const Forecast f = forecast(s);
  EXPECT_EQ(f.stages[0].time.sum(), f.step);
  EXPECT_GE(f.step, f.stages[0].time.compute + f.stages[0].time.optimizer);
  EXPECT_EQ(forecast(s).step, f.step);
}

TEST(LocalSteps, CompressWhatTheyExchange) {
  Scenario s = local(16, 4);
  const Forecast plain = forecast(s);
  s.data_parallel.compression.ratio = 16;
  const Forecast f = forecast(s);
  EXPECT_NEAR(plain.stages[0].time.exposed_data / f.stages[0].time.exposed_data, 16, 1.6);
  EXPECT_GT(f.stages[0].time.compression, Time{});
  EXPECT_EQ(f.stages[0].time.sum(), f.step);
}

}  // namespace
}  // namespace stepcast::schedules
