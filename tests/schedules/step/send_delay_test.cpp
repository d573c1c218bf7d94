// What a send between stages waits for besides its transfer, on many nodes.

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
  s.software.send_delay_nodes = 4;
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

/// On two nodes of four the delay is a microsecond, whatever it is on four.
TEST(SendDelay, GrowsByAPowerOfTheNodes) {
  EXPECT_EQ(step(two_stages(16, milliseconds(100))), step(two_stages(16, microseconds(1))));
  Scenario four = two_stages(16, milliseconds(100));
  four.software.send_delay_nodes = 3;
  EXPECT_EQ(step(four), step(two_stages(16, microseconds(1))));
}

TEST(SendDelay, IsSimulatedTransferByTransferToo) {
  const Time more = step(two_stages(16, microseconds(1)), true) - step(two_stages(16, {}), true);
  EXPECT_EQ(more, step(two_stages(16, microseconds(1))) - step(two_stages(16, {})));
}

}  // namespace
}  // namespace stepcast::schedules
