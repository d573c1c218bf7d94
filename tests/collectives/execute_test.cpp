#include "collectives/execute.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stepcast::collectives {
namespace {

TEST(Execute, CopiesAndAddsRangesInOrder) {
  CollectivePlan plan;
  plan.ranks = 2;
  const Range both[] = {{0, 1}, {2, 1}};
  const ConnectionId there = plan.connect(0, 1, 0), back = plan.connect(1, 0, 0);
  const TransferId added = plan.add({there, plan.add_chunk(both), Effect::reduce});
  plan.add({back, plan.add_chunk({2, 1}), Effect::copy}, {added});
  std::vector<std::vector<std::int64_t>> buffers{{1, 2, 3}, {10, 20, 30}};
  execute(plan, buffers);
  EXPECT_THAT(buffers[0], testing::ElementsAre(1, 2, 33));
  EXPECT_THAT(buffers[1], testing::ElementsAre(11, 20, 33));
}

TEST(Execute, NamesATransferThatNeverRuns) {
  CollectivePlan plan;
  plan.ranks = 3;
  const ChunkId chunk = plan.add_chunk({0, 1});
  plan.add({plan.connect(0, 1, 0), chunk, Effect::copy});
  plan.add({plan.connect(1, 2, 0), chunk, Effect::copy}, {TransferId{2}});
  plan.add({plan.connect(2, 0, 0), chunk, Effect::copy}, {TransferId{1}});
  std::vector<std::vector<std::int64_t>> buffers(3, {0});
  try {
    execute(plan, buffers);
    FAIL();
  } catch (const CyclicPlan& error) {
    EXPECT_STREQ(error.what(),
                 "2 of 3 transfers wait for each other in a circle; the first is transfer 1 from rank 1 to rank 2");
  }
}

TEST(Execute, ConnectionOrderCountsAsWaiting) {
  CollectivePlan plan;
  plan.ranks = 2;
  const ConnectionId way = plan.connect(0, 1, 0);
  plan.add({way, plan.add_chunk({0, 1}), Effect::copy}, {TransferId{1}});  // waits for the one behind it
  plan.add({way, plan.add_chunk({0, 1}), Effect::copy});
  std::vector<std::vector<std::int64_t>> buffers(2, {0});
  EXPECT_THROW(execute(plan, buffers), CyclicPlan);
}

TEST(Execute, ListsRanksThatNothingReaches) {
  CollectivePlan plan;
  plan.ranks = 4;
  plan.add({plan.connect(0, 2, 0), plan.add_chunk({0, 1}), Effect::copy});
  EXPECT_THAT(unreached(plan), testing::ElementsAre(RankId{1}, RankId{3}));
}

TEST(Execute, RefusesRanksAndElementsThatDoNotExist) {
  CollectivePlan plan;
  plan.ranks = 2;
  plan.add({plan.connect(0, 1, 0), plan.add_chunk({0, 2}), Effect::copy});
  std::vector<std::vector<std::int64_t>> small(2, {0}), few(1, {0, 0});
  EXPECT_THROW(execute(plan, small), std::out_of_range);
  EXPECT_THROW(execute(plan, few), std::out_of_range);
}

TEST(Part, CoversTheRangeInOrderWithSizesThatDifferByOne) {
  for (std::int64_t count = 0; count < 40; ++count) {
    for (std::uint32_t parts = 1; parts < 20; ++parts) {
      std::int64_t at = 5;
      for (std::uint32_t i = 0; i < parts; ++i) {
        const Range range = part({5, count}, parts, i);
        EXPECT_EQ(range.begin, at);
        EXPECT_GE(range.count, count / parts);
        EXPECT_LE(range.count, count / parts + 1);
        at += range.count;
      }
      EXPECT_EQ(at, 5 + count);
    }
  }
}

}  // namespace
}  // namespace stepcast::collectives
