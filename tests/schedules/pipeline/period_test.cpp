#include "schedules/pipeline/period.h"

#include <gtest/gtest.h>

#include "schedules/pipeline/in_flight.h"
#include "schedules/pipeline/pipelines.h"
#include "schedules/pipeline/shape.h"
#include "schedules/pipeline/validate.h"

namespace stepcast::schedules {
namespace {

struct Case {
  const PipelineSchedule* schedule;
  Shape shape;
};

/// Every schedule with some of the shapes that it supports, long enough to have a middle.
std::vector<Case> cases() {
  std::vector<Case> all;
  for (const PipelineSchedule* schedule : pipelines())
    for (const std::uint32_t p : {1u, 2u, 3u, 4u, 8u})
      for (const std::uint32_t v : {1u, 2u, 3u})
        for (const std::uint32_t m : {12 * p, 12 * p + 1, 16 * p, 16 * p + p - 1, 17 * p})
          for (const std::uint32_t group : {0u, p + 2}) {
            Shape shape = shape_of(*schedule, p, m, v);
            if (group > 0 && (!schedule->in_groups || shape.virtual_stages == 1)) continue;
            shape.micro_batch_group = group;
            if (shape.virtual_stages == v && schedule->supports(shape).empty()) all.push_back({schedule, shape});
          }
  return all;
}

std::string in_words(const Case& c) {
  return std::string(c.schedule->name) + " p" + std::to_string(c.shape.stages) + " m" +
         std::to_string(c.shape.micro_batches) + " v" + std::to_string(c.shape.virtual_stages) + " g" +
         std::to_string(c.shape.micro_batch_group);
}

TEST(Period, Of1F1BIsAForwardAndABackwardBetweenItsWarmUpAndItsDrain) {
  const Shape shape{4, 32};
  const std::optional<Period> period = find_period(shape, orders(*find_pipeline("1f1b"), shape));
  ASSERT_TRUE(period);
  EXPECT_EQ(period->micro_batches, 1u);
  for (std::uint32_t s = 0; s < 4; ++s) {
    EXPECT_EQ(period->stages[s].passes, 2u);
    // p - s - 1 forwards lead to the first pair, as many backwards follow the last one.
    EXPECT_EQ(period->stages[s].first, 4 - s - 1) << s;
    EXPECT_EQ(period->stages[s].end, 64 - (4 - s - 1)) << s;
  }
}

TEST(Period, OfAnInterleavedScheduleIsAGroupsPassesOverAllChunks) {
  const Shape shape{4, 48, 3};
  const std::optional<Period> period = find_period(shape, orders(*find_pipeline("interleaved-1f1b"), shape));
  ASSERT_TRUE(period);
  EXPECT_EQ(period->micro_batches, 4u);
  for (const Period::OfStage& stage : period->stages) EXPECT_EQ(stage.passes, 2u * 3 * 4);
}

TEST(Period, GpipeHasNone) {
  const Shape shape{4, 32};
  EXPECT_FALSE(find_period(shape, orders(*find_pipeline("gpipe"), shape)));
}

// A stage that takes its micro-batches in another turn than the others would be left with other ones than they.
TEST(Period, IsNotLookedForWhereMicroBatchesDoNotComeInTurn) {
  const Shape shape{1, 64};
  StageOrder order;
  for (std::uint32_t m = 0; m < 64; m += 2)
    for (const std::uint32_t i : {m + 1, m}) {
      order.push_back({PassKind::forward, MicroBatchId{i}});
      order.push_back({PassKind::backward, MicroBatchId{i}});
    }
  const std::vector<StageOrder> orders{order};
  EXPECT_FALSE(find_period(shape, orders));
}

// What repeats in the middle is backwards alone: left out there, micro-batches would keep their forwards and weights.
TEST(Period, IsNotOneOfSomeOfAMicroBatchsVisitsAlone) {
  Shape shape{1, 64};
  shape.splits_backward = true;
  StageOrder order;
  for (const PassKind kind : {PassKind::forward, PassKind::backward, PassKind::weight})
    for (std::uint32_t m = 0; m < 64; ++m) order.push_back({kind, MicroBatchId{m}});
  EXPECT_FALSE(find_period(shape, std::span(&order, 1)));
}

TEST(Period, LeftOutLeavesAnOrderThatRunsToItsEndAndHoldsAsMuch) {
  std::size_t found = 0;
  for (const Case& c : cases()) {
    const std::vector<StageOrder> all = orders(*c.schedule, c.shape);
    const std::optional<Period> period = find_period(c.shape, all);
    if (!period) continue;
    ++found;
    for (const std::uint32_t left_out : {1u, period->times() / 2}) {
      const std::vector<StageOrder> fewer = without(all, *period, left_out);
      Shape shape = c.shape;
      shape.micro_batches -= left_out * period->micro_batches;
      EXPECT_EQ(validate(shape, fewer).problems, std::vector<std::string>{}) << in_words(c);
      for (std::uint32_t s = 0; s < shape.stages; ++s)
        EXPECT_EQ(most_in_flight(shape, fewer[s]), most_in_flight(c.shape, all[s])) << in_words(c) << ", stage " << s;
    }
  }
  EXPECT_GT(found, 100u);
}

// What a schedule says of itself: brief pipelines are written with fewer micro-batches because of it.
TEST(Period, ThatAScheduleNamesIsTheOneOfItsOrders) {
  std::size_t named = 0;
  for (const Case& c : cases()) {
    if (c.schedule->period == nullptr || c.shape.micro_batches < 8 * c.schedule->period(c.shape)) continue;
    ++named;
    const std::vector<StageOrder> all = orders(*c.schedule, c.shape);
    const std::optional<Period> period = find_period(c.shape, all);
    ASSERT_TRUE(period) << in_words(c);
    ASSERT_EQ(period->micro_batches, c.schedule->period(c.shape)) << in_words(c);
    for (std::uint32_t left_out = 1; left_out < period->times(); left_out += 3) {
      Shape fewer = c.shape;
      fewer.micro_batches -= left_out * period->micro_batches;
      if (c.schedule->in_groups && fewer.virtual_stages > 1) fewer.micro_batch_group = period->micro_batches;
      EXPECT_EQ(orders(*c.schedule, fewer), without(all, *period, left_out)) << in_words(c) << ", less " << left_out;
      if (period->times() - left_out < 4) continue;  // too few for a middle
      const std::optional<Period> again = find_period(fewer, orders(*c.schedule, fewer));
      if (!again) continue;
      const Period expected = with_times(*period, period->times() - left_out);
      for (std::uint32_t s = 0; s < fewer.stages; ++s) {
        EXPECT_EQ(again->stages[s].first, expected.stages[s].first) << in_words(c);
        EXPECT_EQ(again->stages[s].end, expected.stages[s].end) << in_words(c);
      }
    }
  }
  EXPECT_GT(named, 20u);
}

}  // namespace
}  // namespace stepcast::schedules
