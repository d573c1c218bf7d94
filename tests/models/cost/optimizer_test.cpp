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
  s.software.moment_precision = Precision::bf16;
  const auto time = [&](Optimizer optimizer) { return optimizer_time(s.cluster.gpu, s.software, optimizer, 1e9); };
  EXPECT_EQ(time(Optimizer::adam), milliseconds(26));  // 8 of 60 bytes less
  EXPECT_EQ(time(Optimizer::momentum), milliseconds(24));
  EXPECT_EQ(time(Optimizer::sgd), milliseconds(22));
}

}  // namespace
}  // namespace stepcast::schedules
