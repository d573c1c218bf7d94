#include "schedules/parallel/inner_groups.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace stepcast::schedules {
namespace {

using collectives::Group;

std::vector<std::vector<std::uint32_t>> numbers(const std::vector<Group>& groups) {
  std::vector<std::vector<std::uint32_t>> out;
  for (const Group& group : groups) {
    auto& ranks = out.emplace_back();
    for (const topology::GpuId g : group) ranks.push_back(topology::index(g));
  }
  return out;
}

using Numbers = std::vector<std::vector<std::uint32_t>>;

TEST(ExpertGroups, AreConsecutiveRanksOfTheStage) {
  // 2 tensor x 4 data ranks a stage, nodes of 8: the second stage's ranks are 8 to 15.
  const Ranks ranks({.tensor = 2, .pipeline = 2, .data = 4, .expert = 4}, 8);
  EXPECT_EQ(numbers(expert_groups_beside(ranks, {0, 0, 1})), (Numbers{{8, 9, 10, 11}, {12, 13, 14, 15}}));
  EXPECT_EQ(numbers(expert_groups_beside(ranks, {1, 3, 1})), (Numbers{{12, 13, 14, 15}, {8, 9, 10, 11}}));
}

TEST(ExpertGroups, BesideIsWhatSharesANode) {
  const Ranks ranks({.tensor = 1, .pipeline = 1, .data = 32, .expert = 8}, 8);
  EXPECT_EQ(numbers(expert_groups_beside(ranks, {0, 17, 0})), (Numbers{{16, 17, 18, 19, 20, 21, 22, 23}}));
}

TEST(ExpertCopies, AreEveryExpertthRankAndEachRankIsInOne) {
  const Ranks ranks({.tensor = 2, .pipeline = 1, .data = 8, .expert = 4}, 8);
  EXPECT_EQ(numbers(expert_copies_of_stage(ranks, {0, 0, 0})),
            (Numbers{{0, 4, 8, 12}, {2, 6, 10, 14}, {1, 5, 9, 13}, {3, 7, 11, 15}}));
  EXPECT_EQ(numbers(expert_copies_of_stage(ranks, {1, 0, 0}))[0], (std::vector<std::uint32_t>{1, 5, 9, 13}));
}

TEST(ExpertTensorGroups, AreNeighboursAndExpertGroupsStepOverThem) {
  // Megatron-Core's rank generator of "tp-ep-dp" with 2 expert tensor and 2 expert ranks.
  const Ranks ranks({.tensor = 2, .pipeline = 1, .data = 4, .expert = 2, .expert_tensor = 2}, 8);
  EXPECT_EQ(numbers(expert_tensor_groups_beside(ranks, {0, 0, 0})), (Numbers{{0, 1}, {2, 3}, {4, 5}, {6, 7}}));
  EXPECT_EQ(numbers(expert_groups_beside(ranks, {0, 0, 0})), (Numbers{{0, 2}, {1, 3}, {4, 6}, {5, 7}}));
  EXPECT_EQ(numbers(expert_groups_beside(ranks, {1, 3, 0})), (Numbers{{5, 7}, {0, 2}, {1, 3}, {4, 6}}));
  EXPECT_EQ(numbers(expert_copies_of_stage(ranks, {0, 0, 0})), (Numbers{{0, 4}, {2, 6}, {1, 5}, {3, 7}}));
}

TEST(ContextGroups, AreInnerToData) {
  const Ranks ranks({.tensor = 2, .pipeline = 1, .data = 2, .context = 2}, 8);
  EXPECT_EQ(numbers(context_groups_beside(ranks, {0, 0, 0})), (Numbers{{0, 2}, {1, 3}, {4, 6}, {5, 7}}));
  EXPECT_EQ(numbers(context_groups_beside(ranks, {1, 3, 0}))[0], (std::vector<std::uint32_t>{5, 7}));
  EXPECT_EQ(numbers(context_rings_beside(ranks, {0, 0, 0})),
            (Numbers{{0, 2}, {2, 0}, {1, 3}, {3, 1}, {4, 6}, {6, 4}, {5, 7}, {7, 5}}));
}

}  // namespace
}  // namespace stepcast::schedules
