#include "collectives/timing/earlier_place.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "collectives/timing/timer.h"
#include "tests/collectives/fixtures.h"
#include "tests/sanitized.h"

namespace stepcast::collectives {
namespace {

using test::build;
using test::Machine;

constexpr std::uint32_t kNodes = 12, kGpus = 4;

Machine machine(const std::string& fabric, double oversubscription = 1) {
  Machine made{.nodes = kNodes, .gpus = kGpus, .fabric = fabric, .radix = 48, .oversubscription = oversubscription};
  if (fabric == "fat-tree") made.radix = 16;
  if (fabric == "rail-fat-tree") made.radix = 8;
  made.nvlink_latency = microseconds(1);
  made.nic_latency = microseconds(2);
  made.switch_latency = nanoseconds(300);
  return made;
}

/// Groups on some of these nodes, each in the same places of as many of them; the last node has none.
std::vector<Group> some_groups(std::mt19937& random) {
  const auto below = [&](std::uint32_t end) { return static_cast<std::uint32_t>(random() % end); };
  const std::uint32_t step = 1 + below(2), nodes = 2 + below(3), each = 1 + below(kGpus);
  const std::uint32_t first = below(kNodes - 1 - (nodes - 1) * step), groups = 1 + below(kGpus / each);
  std::vector<Group> all(groups);
  for (std::uint32_t node = first; node < first + nodes * step; node += step)
    for (std::uint32_t gpu = 0; gpu < groups * each; ++gpu)
      all[gpu / each].push_back(topology::GpuId{node * kGpus + gpu});
  return all;
}

void expect_same(const Timing& a, const Timing& b) {
  EXPECT_EQ(a.duration, b.duration);
  EXPECT_EQ(a.latency, b.latency);
  EXPECT_EQ(a.still, b.still);
  EXPECT_EQ(a.interval, b.interval);
  EXPECT_EQ(a.algorithm, b.algorithm);
  EXPECT_EQ(a.protocol, b.protocol);
  EXPECT_EQ(a.exact, b.exact);
  EXPECT_EQ(a.spread, b.spread);
  ASSERT_EQ(a.loads.size(), b.loads.size());
  for (std::size_t i = 0; i < a.loads.size(); ++i) {
    EXPECT_EQ(a.loads[i].link, b.loads[i].link);
    EXPECT_EQ(a.loads[i].bytes, b.loads[i].bytes);
    EXPECT_EQ(a.loads[i].occupied, b.loads[i].occupied);
    EXPECT_EQ(a.loads[i].connections, b.loads[i].connections);
  }
}

/// Beside a cluster whose last node is used in part, where no place is told to be like another.
TEST(EarlierPlace, WhatIsTimedThereIsWhatItIsHere) {
  const int kTrials = stepcast::test::kSanitized ? 10 : 60;
  std::mt19937 random(1);
  const std::vector<std::string> algorithms{"auto", "ring", "double-binary-tree", "nccl"};
  for (const Machine& whole : {machine("one-switch"), machine("fat-tree"), machine("fat-tree", 3),
                               machine("rail-fat-tree"), machine("rail-fat-tree", 3), machine("rail-only")}) {
    Machine part = whole;
    part.allocation = "node0-10,node11:0-2";
    const Transport transport{.nvlink_step = microseconds(3), .network_step = microseconds(9)};
    const Timer timer(build(whole), transport, true), in_place(build(part), transport, true);
    int moved = 0;
    for (int trial = 0; trial < kTrials; ++trial) {
      const std::vector<Group> groups = some_groups(random);
      moved += EarlierPlace::find(timer.cluster(), groups) ? 1 : 0;
      EXPECT_FALSE(EarlierPlace::find(in_place.cluster(), groups));
      const bool sends = groups.front().size() == 2 && random() % 2 == 0;
      const Operation operation =
          sends ? Operation::send_recv
                : std::vector{Operation::all_reduce, Operation::all_to_all, Operation::all_gather}[random() % 3];
      const std::string algorithm =
          operation == Operation::all_reduce ? algorithms[random() % algorithms.size()] : "auto";
      const Bytes bytes{std::int64_t{1} << (10 + random() % 18)};
      const bool fold = random() % 2 == 0;
      Details details;
      if (!fold) details.own = static_cast<std::uint32_t>(random() % 2);
      expect_same(timer.time(operation, bytes, groups, algorithm, fold, details),
                  in_place.time(operation, bytes, groups, algorithm, fold, details));
      EXPECT_EQ(timer.least(operation, bytes, groups, algorithm), in_place.least(operation, bytes, groups, algorithm));
      if (HasFailure()) return;
    }
    EXPECT_GT(moved, kTrials / 4) << whole.fabric;
  }
}

TEST(EarlierPlace, LiesAlikeOnTheSwitches) {
  // Two nodes of four adapters on each leaf.
  const topology::Cluster cluster = build(machine("fat-tree"));
  const auto group_on = [](const std::vector<std::uint32_t>& nodes) {
    Group group;
    for (const std::uint32_t node : nodes) group.push_back(topology::GpuId{node * kGpus});
    return std::vector<Group>{group};
  };
  const auto earlier = [&](const std::vector<std::uint32_t>& nodes) {
    const std::vector<Group> groups = group_on(nodes);
    const std::optional<EarlierPlace> found = EarlierPlace::find(cluster, groups);
    return found ? found->groups(groups) : groups;
  };
  EXPECT_EQ(earlier({4, 5}), group_on({0, 1}));
  EXPECT_EQ(earlier({5, 6}), group_on({1, 2}));
  EXPECT_EQ(earlier({7, 8, 9}), group_on({1, 2, 3}));
  EXPECT_EQ(earlier({1, 2}), group_on({1, 2}));
  EXPECT_EQ(earlier({0, 2, 5}), group_on({0, 2, 5}));
}

}  // namespace
}  // namespace stepcast::collectives
