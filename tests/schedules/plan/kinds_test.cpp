#include "schedules/plan/kinds.h"

#include <gtest/gtest.h>

#include "schedules/checks/check.h"
#include "schedules/forecast.h"
#include "tests/schedules/scenarios.h"

namespace stepcast::schedules {
namespace {

/// Half of the GPUs have half the rates of the others.
Scenario two_kinds(std::uint32_t gpus, std::uint32_t tensor) {
  Scenario s = round_numbers(gpus);
  s.parallelism = {.tensor = tensor, .data = gpus / tensor};
  s.training.global_batch = s.training.micro_batch = 12;
  s.training.global_batch *= s.parallelism.data;
  OtherGpus other{s.cluster.gpu, gpus / 2};
  other.gpu.name = "fast";
  other.gpu.memory_bandwidth = s.cluster.gpu.memory_bandwidth * 2;
  for (auto& [precision, rate] : other.gpu.peak) rate = rate * 2;
  s.cluster.other = other;
  return s;
}

TEST(TwoKinds, AnEqualShareTakesAsLongAsTheSlowKind) {
  Scenario mixed = two_kinds(8, 1), slow = mixed;
  slow.cluster.other.reset();
  mixed.data_parallel.overlap = slow.data_parallel.overlap = false;
  EXPECT_EQ(forecast(mixed).step, forecast(slow).step);
}

TEST(TwoKinds, BalancedSharesAreOneToTwoAndBothKindsAreDoneTogether) {
  Scenario s = two_kinds(8, 1);
  const Time equal = forecast(s).stages.at(0).time.compute;
  s.training.balance = true;
  const Forecast f = forecast(s);
  ASSERT_EQ(f.shares.size(), 2u);
  EXPECT_EQ(f.shares[0].micro_batch, 8);
  EXPECT_EQ(f.shares[1].micro_batch, 16);
  EXPECT_EQ(f.shares[1].gpu, "fast");
  EXPECT_EQ(f.shares[1].gpus, 4u);
  EXPECT_NEAR(f.stages.at(0).time.compute / equal, 8.0 / 12, 0.05);
  EXPECT_GT(f.shares[1].peak, f.shares[0].peak);  // of twice the samples
}

TEST(TwoKinds, WithTensorRanksToo) {
  Scenario s = two_kinds(16, 4);
  s.training.balance = true;
  ASSERT_TRUE(check(s).empty());
  const Forecast f = forecast(s);
  EXPECT_LT(f.shares.at(0).micro_batch, f.shares.at(1).micro_batch);
}

TEST(TwoKinds, AGroupOfTensorRanksIsOfOneKind) {
  Scenario s = two_kinds(16, 4);
  s.cluster.other->first = 6;
  ASSERT_EQ(check(s).size(), 1u);
  EXPECT_EQ(check(s).front().key, "cluster.other.first");
}

/// Two stages of slow GPUs and two of GPUs that are twice as fast, with no traffic to speak of.
Scenario stages_of_two_kinds(std::vector<std::uint32_t> layers) {
  Scenario s = two_kinds(8, 1);
  s.parallelism = {.pipeline = 4, .data = 2, .layers_per_stage = std::move(layers)};
  s.training.micro_batch = 1;
  s.training.global_batch = 64;
  s.model.vocab = 64;
  return s;
}

TEST(TwoKinds, StagesOfOnePipelineRunAtTheSpeedOfTheirKind) {
  const Scenario s = stages_of_two_kinds({4, 4, 4, 4});
  ASSERT_TRUE(check(s).empty());
  const Forecast even = forecast(s);
  EXPECT_NEAR(even.stages.at(1).time.compute / even.stages.at(2).time.compute, 2, 0.05);
  const Forecast by_speed = forecast(stages_of_two_kinds({3, 3, 5, 5}));
  EXPECT_LT(by_speed.step, even.step);
  Scenario slow = s, fast = s;
  slow.cluster.other.reset();
  fast.cluster.gpu = s.cluster.other->gpu;
  fast.cluster.other.reset();
  EXPECT_LE(even.step, forecast(slow).step);
  EXPECT_GT(by_speed.step, forecast(fast).step);
}

TEST(TwoKinds, EachStageHasTheMemoryOfItsKind) {
  Scenario s = stages_of_two_kinds({4, 4, 4, 4});
  const Forecast roomy = forecast(s);
  ASSERT_FALSE(roomy.out_of_memory);
  const auto peak = [&](std::size_t stage) { return roomy.stages.at(stage).memory.peak(); };
  ASSERT_GT(peak(1), peak(2));  // more micro-batches in flight
  ASSERT_EQ(roomy.shares.size(), 2u);
  EXPECT_EQ(roomy.shares[0].peak, std::max(peak(0), peak(1)));
  EXPECT_EQ(roomy.shares[1].peak, std::max(peak(2), peak(3)));
  s.cluster.other->gpu.memory = {peak(1).value - 1};  // the slow ones alone need more
  EXPECT_FALSE(forecast(s).out_of_memory);
  s.cluster.gpu.memory = {peak(1).value - 1};
  const Forecast slow_are_full = forecast(s);
  ASSERT_TRUE(slow_are_full.out_of_memory);
  EXPECT_LT(slow_are_full.out_of_memory->stage, 2u);
  s = stages_of_two_kinds({4, 4, 4, 4});
  s.cluster.other->gpu.memory = {std::max(peak(2), peak(3)).value - 1};
  const Forecast fast_are_full = forecast(s);
  ASSERT_TRUE(fast_are_full.out_of_memory);
  EXPECT_GE(fast_are_full.out_of_memory->stage, 2u);
  EXPECT_EQ(fast_are_full.out_of_memory->available, s.cluster.other->gpu.memory);
}

TEST(TwoKinds, AStageMayHoldBoth) {
  Scenario s = stages_of_two_kinds({4, 4, 4, 4});
  s.cluster.other->first = 3;  // the second data rank of the second stage
  ASSERT_TRUE(check(s).empty());
  const Forecast mixed = forecast(s), half = forecast(stages_of_two_kinds({4, 4, 4, 4}));
  EXPECT_GE(mixed.step / half.step, 0.98);
  EXPECT_EQ(mixed.shares.at(1).gpus, 5u);
  s.training.balance = true;
  EXPECT_EQ(check(s).front().key, "training.balance");
}

TEST(TwoKinds, WholeTensorGroupsAreOfOneKindWhateverTheOrder) {
  Scenario s = stages_of_two_kinds({4, 4, 4, 4});
  s.parallelism.tensor = 2;
  s.parallelism.data = 1;
  s.parallelism.order = {Dimension::pipeline, Dimension::tensor, Dimension::context, Dimension::data};
  ASSERT_EQ(check(s).size(), 1u);
  EXPECT_EQ(check(s).front().key, "parallelism.order");
}

}  // namespace
}  // namespace stepcast::schedules
