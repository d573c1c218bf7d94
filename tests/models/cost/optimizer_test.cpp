#include "models/cost/optimizer.h"

#include <gtest/gtest.h>

#include "tests/schedules/scenarios.h"

namespace stepcast::schedules {
namespace {

TEST(OptimizerTime, MomentsAreReadAndWritten) {
  const Scenario s = round_numbers(8);  // 60 bytes a parameter with Adam, at 2 TB/s
  const auto time = [&](Optimizer optimizer) { return optimizer_time(s.cluster.gpu, s.software, optimizer, 1e9); };
  EXPECT_EQ(time(Optimizer::adam), milliseconds(30));
  EXPECT_EQ(time(Optimizer::momentum), milliseconds(26));
  EXPECT_EQ(time(Optimizer::sgd), milliseconds(22));
  EXPECT_EQ(time(Optimizer::none), Time{});
}

TEST(OptimizerTime, IsOfTheOptimizerThatTheSoftwareNames) {
  Scenario s = round_numbers(8);
  s.software.optimizer = Optimizer::momentum;
  const auto time = [&](Optimizer optimizer) { return optimizer_time(s.cluster.gpu, s.software, optimizer, 1e9); };
  EXPECT_EQ(time(Optimizer::adam), milliseconds(34));
  EXPECT_EQ(time(Optimizer::momentum), milliseconds(30));
}

TEST(OptimizerTime, MomentsInHalfTheBytesAreReadAndWrittenInHalf) {
  Scenario s = round_numbers(8);
  s.software.moment_precision = MomentPrecision::bf16;
  const auto time = [&](Optimizer optimizer) { return optimizer_time(s.cluster.gpu, s.software, optimizer, 1e9); };
  EXPECT_EQ(time(Optimizer::adam), milliseconds(26));  // 8 of 60 bytes less
  EXPECT_EQ(time(Optimizer::momentum), milliseconds(24));
  EXPECT_EQ(time(Optimizer::sgd), milliseconds(22));
}

TEST(OptimizerTime, MomentsInEightBitsHaveAScaleForEach256) {
  Scenario s = round_numbers(8);
  s.software.moment_precision = MomentPrecision::int8;
  constexpr double kBytes = 60 - 16 + 4 * (1 + 4.0 / 256);  // of Adam, two moments read and written
  EXPECT_NEAR(to_seconds(optimizer_time(s.cluster.gpu, s.software, Optimizer::adam, 1e9)), kBytes / 2000, 1e-9);
  s.software.moment_precision = MomentPrecision::fp8;
  EXPECT_EQ(optimizer_time(s.cluster.gpu, s.software, Optimizer::lion, 1e9), milliseconds(23));
  EXPECT_EQ(optimizer_time(s.cluster.gpu, s.software, Optimizer::adafactor, 1e9), milliseconds(22));
}

}  // namespace
}  // namespace stepcast::schedules
