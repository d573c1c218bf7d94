#include "schedules/parallel/ranks.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "schedules/forecast.h"
#include "tests/schedules/scenarios.h"

namespace stepcast::schedules {
namespace {

using enum Dimension;
using Order = decltype(Parallelism::order);

Parallelism plan(Order order) {
  return {.tensor = 2, .pipeline = 3, .data = 4, .context = 2, .expert = 1, .order = order};
}

TEST(RankOrder, NumbersTheFirstDimensionFastest) {
  const Ranks usual(plan({tensor, context, data, pipeline}), 8);
  EXPECT_EQ(index(usual.gpu({1, 0, 0})), 1u);
  EXPECT_EQ(index(usual.gpu({0, 1, 0})), 2u);  // the second of two context ranks
  EXPECT_EQ(index(usual.gpu({0, 2, 0})), 4u);  // the second data rank
  EXPECT_EQ(index(usual.gpu({0, 0, 1})), 16u);
  const Ranks stages_first(plan({tensor, pipeline, data, context}), 8);
  EXPECT_EQ(index(stages_first.gpu({1, 0, 0})), 1u);
  EXPECT_EQ(index(stages_first.gpu({0, 0, 1})), 2u);
  EXPECT_EQ(index(stages_first.gpu({0, 2, 0})), 6u);
  EXPECT_EQ(index(stages_first.gpu({0, 1, 0})), 24u);
}

TEST(RankOrder, EveryRankHasOnePlaceInEveryOrder) {
  Order order{tensor, context, data, pipeline};
  int orders = 0;
  do {
    const Ranks ranks(plan(order), 8);
    ++orders;
    for (std::uint32_t rank = 0; rank < ranks.count(); ++rank)
      EXPECT_EQ(index(ranks.gpu(ranks.coordinate(rank))), rank);
  } while (std::next_permutation(order.begin(), order.end()));
  EXPECT_EQ(orders, 24);
}

TEST(RankOrder, GroupsBesideAreThoseOnTheSameNodes) {
  // Nodes of 4: each has both tensor ranks of two stages, of one data rank.
  const Ranks ranks({.tensor = 2, .pipeline = 2, .data = 2, .order = {tensor, pipeline, context, data}}, 4);
  const std::vector<collectives::Group> tensor_groups = ranks.tensor_groups_beside({0, 0, 1});
  ASSERT_EQ(tensor_groups.size(), 1u);
  EXPECT_EQ(tensor_groups[0], (collectives::Group{topology::GpuId{2}, topology::GpuId{3}}));
  const std::vector<collectives::Group> sends = ranks.sends_beside({0, 1, 0}, 1);
  ASSERT_EQ(sends.size(), 2u);
  EXPECT_EQ(sends[0], (collectives::Group{topology::GpuId{4}, topology::GpuId{6}}));
  EXPECT_EQ(sends[1], (collectives::Group{topology::GpuId{5}, topology::GpuId{7}}));
  const std::vector<collectives::Group> data_groups = ranks.data_groups_beside({0, 0, 1});
  EXPECT_EQ(data_groups[0], (collectives::Group{topology::GpuId{2}, topology::GpuId{6}}));
}

bool some_stage_and_the_next_are_apart(const Ranks& ranks) {
  for (std::uint32_t rank = 0; rank < ranks.count(); ++rank) {
    Coordinate c = ranks.coordinate(rank);
    if (++c.stage < ranks.plan().pipeline && ranks.node(ranks.gpu(c)) != ranks.node(topology::GpuId{rank})) return true;
  }
  return false;
}

TEST(RankOrder, StagesLeaveNodesWhereSomeStageAndTheNextAreApart) {
  int apart = 0, together = 0;
  for (const Order order : {Order{tensor, context, data, pipeline}, Order{tensor, pipeline, context, data},
                            Order{pipeline, tensor, data, context}, Order{tensor, context, pipeline, data}})
    for (const std::uint32_t stages : {1u, 2u, 3u, 4u, 8u})
      for (const std::uint32_t data_ranks : {1u, 2u, 3u})
        for (const std::uint32_t tensor_ranks : {1u, 2u, 4u})
          for (const std::uint32_t each : {1u, 3u, 4u, 6u, 8u, 12u}) {
            const Ranks ranks({.tensor = tensor_ranks, .pipeline = stages, .data = data_ranks, .order = order}, each);
            const bool leave = some_stage_and_the_next_are_apart(ranks);
            EXPECT_EQ(ranks.stages_leave_nodes(), leave)
                << tensor_ranks << " " << stages << " " << data_ranks << " " << each;
            ++(leave ? apart : together);
          }
  EXPECT_GT(apart, 200);
  EXPECT_GT(together, 200);
}

// Hosts wait for other stages' where tensors come over the network, and then alone.
TEST(RankOrder, OnlySendsOverTheNetworkHoldHostsUp) {
  const auto step = [](std::uint32_t gpus, Time each) {
    Scenario s = round_numbers(gpus);
    s.parallelism = {.tensor = 4, .pipeline = 2, .data = gpus / 8};
    s.software.host_per_kernel = microseconds(30);
    s.software.host_per_peer = each;
    return forecast(s).step;
  };
  EXPECT_EQ(step(8, milliseconds(1)), step(8, Time{}));
  EXPECT_GT(step(16, milliseconds(1)), step(16, Time{}));
}

TEST(RankOrder, StagesInANodeSendOverNvlinkAndSumGradientsOverTheNetwork) {
  Scenario s = round_numbers(32);
  s.parallelism = {.tensor = 2, .pipeline = 4, .data = 4};
  s.data_parallel.overlap = false;
  const Forecast apart = forecast(s);
  s.parallelism.order = {tensor, pipeline, context, data};
  const Forecast together = forecast(s);
  const auto sum = [](const Forecast& f, Time TimeSplit::*part) {
    Time all{};
    for (const StageReport& stage : f.stages) all += stage.time.*part;
    return all;
  };
  EXPECT_LT(sum(together, &TimeSplit::exposed_pipeline), sum(apart, &TimeSplit::exposed_pipeline));
  EXPECT_GT(sum(together, &TimeSplit::exposed_data), sum(apart, &TimeSplit::exposed_data));
}

}  // namespace
}  // namespace stepcast::schedules
