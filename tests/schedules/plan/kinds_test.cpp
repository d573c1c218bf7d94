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

}  // namespace
}  // namespace stepcast::schedules
