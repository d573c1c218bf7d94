#include "schedules/pass_times/stragglers.h"

#include <gtest/gtest.h>

#include <cmath>

#include "schedules/forecast.h"
#include "tests/schedules/scenarios.h"

namespace stepcast::schedules {
namespace {

Scenario data_parallel(std::uint32_t gpus) {
  Scenario s = round_numbers(gpus);
  s.parallelism.data = gpus;
  s.data_parallel.overlap = false;
  s.training.global_batch = 16 * gpus;
  return s;
}

TEST(Stragglers, DataRanksWaitForTheSlowGpu) {
  // Nothing overlaps: compute and optimizer of the slow GPU, and the sum of the gradients, one after the other.
  Scenario s = data_parallel(8);
  const TimeSplit perfect = forecast(s).stages.at(0).time;
  s.imperfections = {.slow_gpu = 3, .gpu_speed = 0.8};
  const Forecast f = forecast(s);
  EXPECT_NEAR(to_seconds(f.step),
              to_seconds(perfect.compute + perfect.optimizer) / 0.8 + to_seconds(perfect.exposed_data), 1e-9);
  EXPECT_EQ(f.perfect, forecast(data_parallel(8)).step);
}

TEST(Stragglers, TensorRanksWaitInTheirCollectives) {
  Scenario s = round_numbers(4);
  s.parallelism = {.tensor = 4};
  const TimeSplit perfect = forecast(s).stages.at(0).time;
  s.imperfections = {.slow_gpu = 2, .gpu_speed = 0.5};
  const TimeSplit waiting = forecast(s).stages.at(0).time;  // of the first rank, which is not slow
  EXPECT_EQ(waiting.compute, perfect.compute);
  EXPECT_NEAR(to_seconds(waiting.exposed_tensor), to_seconds(perfect.exposed_tensor + perfect.compute), 1e-9);
}

TEST(Stragglers, APipelineGoesAtThePaceOfItsSlowStage) {
  // 1F1B with one slow stage of p: all stages once, then the slow one m - 1 times more.
  Scenario s = round_numbers(4);
  s.parallelism = {.pipeline = 4};
  s.training.global_batch = 512;
  s.software.optimizer_bytes_per_parameter = 0;
  const Forecast perfect = forecast(s);
  s.imperfections = {.slow_gpu = 1, .gpu_speed = 0.5};
  const double slow = 2 * to_seconds(perfect.stages.at(1).time.compute);
  EXPECT_GE(to_seconds(forecast(s).step), slow);
  EXPECT_NEAR(to_seconds(forecast(s).step) / slow, 1, 0.02);
}

TEST(Stragglers, ASlowNodesCardsSetThePaceOfARing) {
  Scenario s = data_parallel(16);
  const Time before = forecast(s).stages.at(0).time.exposed_data;
  s.imperfections = {.slow_node = 1, .network_speed = 0.25};
  const Time after = forecast(s).stages.at(0).time.exposed_data;
  EXPECT_GT(after / before, 2.0);
  EXPECT_LE(after / before, 4.0 + 1e-9);
  s.imperfections.network_speed = 1;
  EXPECT_EQ(forecast(s).stages.at(0).time.exposed_data, before);
}

TEST(Stragglers, NoneOfThemChangesNothing) {
  for (const Parallelism& plan : {Parallelism{.tensor = 2, .pipeline = 2, .data = 4}, Parallelism{.data = 16}}) {
    Scenario s = round_numbers(16);
    s.parallelism = plan;
    const Time perfect = forecast(s).step;
    s.imperfections = {.slow_gpu = 0, .gpu_speed = 1};
    EXPECT_EQ(forecast(s).step, perfect);
  }
}

TEST(Jitter, IsTheSameForASeedAndAnotherForAnother) {
  Scenario s = data_parallel(8);
  s.imperfections.jitter = 0.05;
  const Time one = forecast(s).step;
  EXPECT_EQ(forecast(s).step, one);
  s.imperfections.seed = 2;
  EXPECT_NE(forecast(s).step, one);
}

TEST(Jitter, HasTheMeanAndDeviationThatWereAsked) {
  const Imperfections imperfections{.jitter = 0.1};
  const Ranks ranks({.data = 64}, 8);
  const Stragglers stragglers(imperfections, ranks);
  double sum = 0, squares = 0;
  constexpr int kDraws = 64 * 500;
  for (std::uint32_t rank = 0; rank < 64; ++rank)
    for (std::uint64_t number = 0; number < 500; ++number) {
      const double factor = to_seconds(stragglers.slowed({0, rank, 0}, number, milliseconds(1000)));
      sum += factor;
      squares += factor * factor;
    }
  const double mean = sum / kDraws, deviation = std::sqrt(squares / kDraws - mean * mean);
  EXPECT_NEAR(mean, 1, 4 * 0.1 / std::sqrt(kDraws));
  EXPECT_NEAR(deviation, 0.1, 0.003);
}

TEST(Jitter, CostsMoreTheMoreRanksWait) {
  // Sixteen passes each way: the slowest of n sums of normals, whose mean grows with n.
  double before = 0;
  for (const std::uint32_t gpus : {1u, 8u, 64u}) {
    Scenario s = data_parallel(gpus);
    s.imperfections.jitter = 0.2;
    const Forecast f = forecast(s);
    const double cost = to_seconds(f.step - *f.perfect);
    if (gpus > 1) {
      EXPECT_GT(cost, before);
    }
    before = cost;
  }
}

}  // namespace
}  // namespace stepcast::schedules
