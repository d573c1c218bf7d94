#include "schedules/parallel/expert_nodes.h"

#include <gtest/gtest.h>

#include <bit>
#include <set>

#include "schedules/parallel/inner_groups.h"

namespace stepcast::schedules {
namespace {

/// Mean over all choices of `active` of the first `m` nodes' experts, each as likely.
double counted(std::uint32_t m, std::uint32_t each, int active) {
  double nodes = 0, choices = 0;
  for (std::uint32_t chosen = 0; chosen < 1u << (m * each); ++chosen) {
    if (std::popcount(chosen) != active) continue;
    ++choices;
    for (std::uint32_t node = 0; node < m; ++node) nodes += (chosen >> (node * each) & ((1u << each) - 1)) != 0;
  }
  return nodes / choices;
}

TEST(ExpectedNodes, IsTheMeanOverAllChoices) {
  for (const std::uint32_t nodes : {1u, 2u, 4u})
    for (const std::uint32_t each : {1u, 2u, 4u})
      for (std::uint32_t limit = 1; limit <= nodes + 1; ++limit)
        for (std::uint32_t active = 1; active <= std::min(limit, nodes) * each; ++active)
          EXPECT_NEAR(expected_nodes(nodes, each, active, limit),
                      counted(std::min(limit, nodes), each, static_cast<int>(active)), 1e-12)
              << nodes << " nodes of " << each << ", " << active << " of at most " << limit;
}

// DeepSeek-V3, sec. 2.1.2 and 4.2: 8 of 256 experts on 8 nodes, at most 4 of them. Without the limit a token goes to
// 8 (1 - C(224, 8) / C(256, 8)) nodes.
TEST(ExpectedNodes, OfDeepSeekV3AreBoundedByItsLimit) {
  EXPECT_NEAR(expected_nodes(8, 32, 8, 8), 5.30, 0.01);
  EXPECT_NEAR(expected_nodes(8, 32, 8, 4), 3.63, 0.01);
  EXPECT_EQ(expected_nodes(8, 32, 8, 1), 1);
}

TEST(Rails, JoinTheSamePlaceOfEveryNode) {
  const Ranks ranks({.tensor = 1, .pipeline = 1, .data = 32, .expert = 16}, 8);
  const std::vector<collectives::Group> groups = expert_groups_beside(ranks, {.data = 16});
  ASSERT_EQ(groups.size(), 1u);
  const std::vector<collectives::Group> nodes = by_node(ranks, groups.front()), across = rails(nodes);
  ASSERT_EQ(nodes.size(), 2u);
  ASSERT_EQ(across.size(), 8u);
  for (std::uint32_t i = 0; i < 8; ++i) {
    EXPECT_EQ(nodes[0][i], topology::GpuId{16 + i});
    EXPECT_EQ(nodes[1][i], topology::GpuId{24 + i});
    EXPECT_EQ(across[i], (collectives::Group{topology::GpuId{16 + i}, topology::GpuId{24 + i}}));
  }
}

}  // namespace
}  // namespace stepcast::schedules
