// Hosts of two stages that stand still while one hands the other a tensor.

#include <gtest/gtest.h>

#include "schedules/forecast.h"
#include "tests/schedules/scenarios.h"

namespace stepcast::schedules {
namespace {

/// So many stages, each on the GPUs of a node.
Scenario in_stages(std::uint32_t count, std::int64_t micro_batches, Time activation, Time gradient) {
  Scenario s = round_numbers(8 * count);
  s.parallelism.tensor = 8;
  s.parallelism.pipeline = count;
  s.parallelism.data = 1;
  s.training.global_batch = micro_batches;
  s.software.activation_hold = activation;
  s.software.gradient_hold = gradient;
  return s;
}

Time held(const Scenario& s, bool transfers = false) {
  return forecast(s, {.transfers = transfers, .advise = false}).step;
}

/// What a micro-batch more costs in the steady state.
Time held_each(std::uint32_t count, Time activation, Time gradient) {
  const Time more = held(in_stages(count, 32, activation, gradient)) - held(in_stages(count, 16, activation, gradient));
  return {more.value / 16};
}

/// nanotron with polls: 0.6 s a micro-batch (Ultra-Scale Playbook, whatever the model).
TEST(SendHold, OfTwoStagesIsAnActivationAndAGradientAMicroBatch) {
  const Time more = held_each(2, milliseconds(400), milliseconds(200)) - held_each(2, {}, {});
  EXPECT_NEAR(to_seconds(more), 0.6, 1e-3);
}

TEST(SendHold, OfAStageBetweenTwoOthersIsTwiceThat) {
  const Time more = held_each(4, milliseconds(400), milliseconds(200)) - held_each(4, {}, {});
  EXPECT_NEAR(to_seconds(more), 1.2, 1e-3);
}

/// One micro-batch on two stages: one activation and one gradient.
TEST(SendHold, HoldsBothStagesAtOnce) {
  const Time more = held(in_stages(2, 1, milliseconds(400), milliseconds(200))) - held(in_stages(2, 1, {}, {}));
  EXPECT_NEAR(to_seconds(more), 0.6, 1e-3);
  EXPECT_EQ(held(in_stages(2, 1, milliseconds(400), milliseconds(200)), true) - held(in_stages(2, 1, {}, {}), true),
            more);
}

TEST(SendHold, IsInsideANodeToo) {
  Scenario free = in_stages(1, 4, {}, {}), holding = in_stages(1, 4, milliseconds(400), milliseconds(200));
  for (Scenario* s : {&free, &holding}) s->parallelism = {.tensor = 4, .pipeline = 2, .data = 1};
  EXPECT_NEAR(to_seconds(held(holding) - held(free)), 2.4, 1e-3);
}

TEST(SendHold, IsNothingWithoutStages) {
  EXPECT_EQ(held(in_stages(1, 4, milliseconds(400), milliseconds(200))), held(in_stages(1, 4, {}, {})));
}

/// What both stand still for is traffic between stages, 600 ms for each of 8 micro-batches, and no part of a step is
/// left over.
TEST(SendHold, IsShownAsTrafficBetweenStages) {
  const Forecast found = forecast(in_stages(2, 8, milliseconds(400), milliseconds(200)), {.advise = false});
  for (const auto& stage : found.stages) EXPECT_GE(stage.time.exposed_pipeline, milliseconds(4800));
}

}  // namespace
}  // namespace stepcast::schedules
