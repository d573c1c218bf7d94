// What traffic between nodes waits for besides its transfer.

#include <gtest/gtest.h>

#include "schedules/forecast.h"
#include "tests/schedules/scenarios.h"

namespace stepcast::schedules {
namespace {

/// Two stages on two nodes, or one.
Scenario two_stages(std::uint32_t gpus, Time delay) {
  Scenario s = round_numbers(gpus);
  s.parallelism.tensor = gpus / 2;
  s.parallelism.pipeline = 2;
  s.parallelism.data = 1;
  s.training.global_batch = 4;
  s.software.send_delay = delay;
  return s;
}

Time step(const Scenario& s, bool transfers = false) {
  return forecast(s, {.transfers = transfers, .advise = false}).step;
}

/// 1F1B of two stages and n micro-batches that wait for each other: the first activation on its way, then an activation
/// and a gradient for each micro-batch but the last, whose gradient comes back alone.
TEST(SendDelay, HoldsUpEachSendThatCrossesTheNetwork) {
  const Time none = step(two_stages(16, {})), some = step(two_stages(16, microseconds(1)));
  EXPECT_EQ((some - none).value % microseconds(1).value, 0);
  EXPECT_GE(some - none, microseconds(4));
  EXPECT_LE(some - none, microseconds(8));
  EXPECT_EQ(step(two_stages(8, {})), step(two_stages(8, milliseconds(100)))) << "inside a node";
}

TEST(SendDelay, IsThatOfLargeClustersAlone) {
  Scenario small = two_stages(16, milliseconds(100));
  small.software.send_delay_nodes = 3;
  EXPECT_EQ(step(small), step(two_stages(16, {})));
}

/// Sixteen tensor ranks are on two nodes, a stage's.
TEST(SendDelay, IsThatOfTensorRanksOnManyNodesToo) {
  Scenario small = two_stages(32, milliseconds(100));
  small.software.send_delay_nodes = 5;
  small.software.send_delay_tensor_nodes = 3;
  EXPECT_EQ(step(small), step(two_stages(32, {})));
  small.software.send_delay_tensor_nodes = 2;
  EXPECT_EQ(step(small), step(two_stages(32, milliseconds(100))));
}

TEST(SendDelay, IsSimulatedTransferByTransferToo) {
  const Time more = step(two_stages(16, microseconds(1)), true) - step(two_stages(16, {}), true);
  EXPECT_EQ(more, step(two_stages(16, microseconds(1))) - step(two_stages(16, {})));
}

/// One stage whose tensor ranks are all GPUs.
Scenario one_stage(std::uint32_t gpus, Time delay) {
  Scenario s = round_numbers(gpus);
  s.parallelism.tensor = gpus;
  s.parallelism.pipeline = s.parallelism.data = 1;
  s.training.global_batch = 2;
  s.software.tensor_delay = delay;
  return s;
}

/// Each of a layer's collectives waits for as many nodes as there are besides the first.
TEST(TensorDelay, HoldsUpEachCollectiveForEachNodeButOne) {
  const Time two = step(one_stage(16, microseconds(1))) - step(one_stage(16, {}));
  EXPECT_GT(two, Time{});
  EXPECT_EQ(two.value % microseconds(1).value, 0);
  EXPECT_EQ(step(one_stage(32, microseconds(1))) - step(one_stage(32, {})), two * 3);
  EXPECT_EQ(step(one_stage(8, microseconds(1))), step(one_stage(8, {}))) << "inside a node";
}

TEST(TensorDelay, IsSimulatedTransferByTransferToo) {
  const Time more = step(one_stage(16, microseconds(1)), true) - step(one_stage(16, {}), true);
  EXPECT_EQ(more, step(one_stage(16, microseconds(1))) - step(one_stage(16, {})));
}

}  // namespace
}  // namespace stepcast::schedules
