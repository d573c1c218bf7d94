#include "collectives/patterns.h"

#include <gtest/gtest.h>

#include <set>
#include <utility>
#include <vector>

namespace stepcast::collectives {
namespace {

const Pattern& called(std::string_view name) {
  for (const Pattern* each : patterns())
    if (each->name == name) return *each;
  throw std::logic_error("no such pattern");
}

/// Sender and receiver of each flow.
std::vector<std::pair<std::uint32_t, std::uint32_t>> ends(const CollectivePlan& plan) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> all;
  for (const Transfer& transfer : plan.transfers) {
    const Connection& connection = plan.connections[index(transfer.connection)];
    all.emplace_back(index(connection.source), index(connection.destination));
  }
  return all;
}

TEST(Patterns, AreFlowsOfTheSizeThatWaitForNothingAndGoToOthers) {
  for (const Pattern* pattern : patterns()) {
    for (const std::uint32_t ranks : {2u, 3u, 8u, 129u}) {
      const CollectivePlan plan = pattern->flows(ranks, Bytes{1000});
      EXPECT_EQ(plan.ranks, ranks) << pattern->name;
      EXPECT_EQ(plan.connections.size(), plan.transfers.size()) << pattern->name;
      for (std::uint32_t t = 0; t < plan.transfers.size(); ++t) {
        EXPECT_EQ(plan.elements(plan.transfers[t].chunk), 1000) << pattern->name;
        EXPECT_TRUE(plan.after(TransferId{t}).empty()) << pattern->name;
      }
      for (const auto& [from, to] : ends(plan)) EXPECT_NE(from, to) << pattern->name << " over " << ranks;
    }
  }
}

TEST(Patterns, IncastIsEveryOtherToTheFirst) {
  using Ends = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
  EXPECT_EQ(ends(called("incast").flows(4, Bytes{1})), (Ends{{1, 0}, {2, 0}, {3, 0}}));
}

TEST(Patterns, PermutationHasEverybodySendAndReceiveOnceAndIsAlwaysTheSame) {
  for (std::uint32_t ranks = 2; ranks < 70; ++ranks) {
    std::set<std::uint32_t> senders, receivers;
    const CollectivePlan plan = called("permutation").flows(ranks, Bytes{1});
    for (const auto& [from, to] : ends(plan)) {
      senders.insert(from);
      receivers.insert(to);
    }
    EXPECT_EQ(plan.transfers.size(), ranks);
    EXPECT_EQ(senders.size(), ranks);
    EXPECT_EQ(receivers.size(), ranks);
    EXPECT_EQ(ends(plan), ends(called("permutation").flows(ranks, Bytes{1})));
  }
}

TEST(Patterns, ATableIsAFlowForEachOfItsNumbersAndItsLargestIsTheSize) {
  const std::vector<std::int64_t> weights{0, 3, 0,  //
                                          0, 0, 1,  //
                                          2, 0, 0};
  const CollectivePlan plan = flows_of(weights, 3, Bytes{900});
  using Ends = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
  EXPECT_EQ(ends(plan), (Ends{{0, 1}, {1, 2}, {2, 0}}));
  std::vector<std::int64_t> bytes;
  for (const Transfer& transfer : plan.transfers) bytes.push_back(plan.elements(transfer.chunk));
  EXPECT_EQ(bytes, (std::vector<std::int64_t>{900, 300, 600}));
}

}  // namespace
}  // namespace stepcast::collectives
