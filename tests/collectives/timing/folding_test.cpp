// Folded, one of the groups and channels that are alike stands for all: what that must not change.

#include <gtest/gtest.h>

#include <tuple>

#include "collectives/algorithms.h"
#include "tests/collectives/fixtures.h"
#include "tests/sanitized.h"

namespace stepcast::collectives {
namespace {

using test::build;
using test::build_torus;
using test::gpus;
using test::one;

TEST(Folding, OnATorusIsAsTheWhole) {
  for (const bool wraps : {true, false}) {
    for (const auto& [wide, high] : {std::pair{4u, 4u}, {5u, 3u}, {2u, 6u}}) {
      const topology::Cluster cluster = build_torus(wide, high, wraps);
      Timer folded(cluster, {.nvlink_step = microseconds(3)}), whole(cluster, {.nvlink_step = microseconds(3)});
      const std::uint32_t p = wide * high;
      for (const Operation operation :
           {Operation::all_to_all, Operation::all_gather, Operation::reduce_scatter, Operation::all_reduce}) {
        for (const char* name :
             {"direct", "pairwise", "hierarchical", "naive", "sharded-parameter-server", "ring", "torus-2d"}) {
          if (!algorithm(name).supports({.operation = operation, .ranks = p})) continue;
          EXPECT_EQ(one(folded, operation, Bytes{p * 60'000}, gpus(p), name).duration,
                    one(whole, operation, Bytes{p * 60'000}, gpus(p), name, false).duration)
              << name << ' ' << wide << 'x' << high << (wraps ? "" : " mesh");
        }
      }
    }
  }
}

TEST(Folding, EqualsUnfoldedToThePicosecond) {
  int cases = 0;
  for (const char* fabric : {"one-switch", "rail-fat-tree"}) {
    for (const auto& [nodes, local, nics] :
         {std::tuple{1u, 8u, 0u}, {2u, 4u, 0u}, {3u, 4u, 0u}, {4u, 8u, 0u}, {6u, 1u, 0u}, {5u, 2u, 0u}, {4u, 4u, 2u}}) {
      Timer timer(build({.nodes = nodes,
                         .gpus = local,
                         .nics = nics,
                         .fabric = fabric,
                         .network_adds = true,
                         .nvlink_latency = nanoseconds(300),
                         .nic_latency = nanoseconds(700)}),
                  {.launch = microseconds(5),
                   .nvlink_step = microseconds(2),
                   .pcie_step = microseconds(3),
                   .network_step = microseconds(7),
                   .network_efficiency = 0.9,
                   .nvlink_efficiency = 0.8});
      const std::uint32_t p = nodes * local;
      std::vector<std::vector<Group>> sets{{gpus(p)}};
      if (nodes > 1 && local > 1) {
        sets.emplace_back();  // a group for each local index: data parallel beside tensor parallel
        for (std::uint32_t l = 0; l < local; ++l) sets.back().push_back(gpus(nodes, l, local));
        sets.emplace_back();  // a group for each node
        for (std::uint32_t n = 0; n < nodes; ++n) sets.back().push_back(gpus(local, n * local));
      }
      for (const std::vector<Group>& groups : sets) {
        for (const Algorithm* algorithm : algorithms()) {
          for (const Operation operation : {Operation::all_reduce, Operation::all_gather, Operation::reduce_scatter,
                                            Operation::broadcast, Operation::reduce, Operation::all_to_all}) {
            const auto ranks = static_cast<std::uint32_t>(groups.front().size());
            const std::uint32_t over = index(groups.front().back()) / local + 1;  // the first group starts at node 0
            if (!algorithm->supports({.operation = operation,
                                      .ranks = ranks,
                                      .nodes = over,
                                      .channels = ranks / over,
                                      .nvlink_sharp = true,
                                      .in_network_reduction = true})) {
              continue;
            }
            for (const std::int64_t each : {0LL, 960LL, 96'000LL}) {
              if (stepcast::test::kSanitized && each != 960) continue;
              const Bytes bytes{each * p * local};
              const Timing folded = timer.time(operation, bytes, groups, algorithm->name, true);
              const Timing whole = timer.time(operation, bytes, groups, algorithm->name, false);
              EXPECT_EQ(folded.duration, whole.duration)
                  << algorithm->name << " " << name(operation) << " " << nodes << " x " << local << " " << fabric
                  << ", " << groups.size() << " groups, " << bytes.value << " bytes";
              EXPECT_EQ(folded.latency, whole.latency);
              ASSERT_EQ(folded.loads.size(), whole.loads.size());
              for (std::size_t i = 0; i < whole.loads.size(); ++i) {
                EXPECT_EQ(folded.loads[i].link, whole.loads[i].link);
                EXPECT_NEAR(folded.loads[i].bytes, whole.loads[i].bytes, 1e-6 * (1 + whole.loads[i].bytes));
              }
              ++cases;
            }
          }
        }
      }
    }
  }
  EXPECT_GT(cases, stepcast::test::kSanitized ? 170 : 500);
}

/// A ring over pods: few of its steps cross them, so alike steps are not quite alike; the slowest stands for all.
TEST(Folding, AcrossPodsIsNoFasterAndLittleSlower) {
  Timer timer(
      build({.nodes = 12, .gpus = 2, .fabric = "rail-fat-tree", .radix = 8, .switch_latency = nanoseconds(500)}),
      {.network_step = microseconds(7)});
  for (const char* algorithm : {"ring", "hierarchical"}) {
    for (const std::int64_t bytes : {0LL, 24 * 2 * 1'000'000LL}) {
      const Time folded = one(timer, Operation::all_gather, {bytes}, gpus(24), algorithm, true).duration;
      const Time whole = one(timer, Operation::all_gather, {bytes}, gpus(24), algorithm, false).duration;
      EXPECT_GE(folded, whole) << algorithm << " " << bytes;
      EXPECT_LE(to_seconds(folded), 1.15 * to_seconds(whole)) << algorithm << " " << bytes;
    }
  }
}

/// Where leaves have fewer ways up than down, flows share these with those that are active beside them.
TEST(Folding, OnAFabricThatBlocksIsNearTheWhole) {
  LEFT_TO_RELEASE();
  const auto blocking = [](std::uint32_t nodes, double oversubscription) {
    return build({.nodes = nodes,
                  .gpus = 1,
                  .fabric = "rail-fat-tree",
                  .radix = 16,
                  .oversubscription = oversubscription,
                  .switch_latency = nanoseconds(500)});
  };
  const Transport transport{.network_step = microseconds(7)};
  for (const double oversubscription : {2.0, 4.0}) {
    Timer timer(blocking(160, oversubscription), transport);  // more than are simulated whole anyway
    for (const char* name : {"ring", "direct", "pairwise"}) {
      for (const Operation operation : {Operation::all_gather, Operation::reduce_scatter, Operation::all_to_all}) {
        if (!algorithm(name).supports({.operation = operation, .ranks = 160, .nodes = 160})) continue;
        const Timing folded = one(timer, operation, {160 << 20}, gpus(160), name, true);
        const double whole = to_seconds(one(timer, operation, {160 << 20}, gpus(160), name, false).duration);
        EXPECT_FALSE(folded.exact);
        EXPECT_GE(to_seconds(folded.duration), whole) << name << " " << oversubscription;
        EXPECT_LE(to_seconds(folded.duration), 1.03 * whole) << name << " " << oversubscription;
      }
    }
  }
  // Half of all bytes of PAT go to the next rank, which seldom is on another leaf. It is simulated whole over 1,024
  // ranks.
  Timer whole(blocking(1024, 4), transport), folded(blocking(1040, 4), transport);
  const auto seconds = [](Timer& timer, std::uint32_t ranks) {
    return to_seconds(one(timer, Operation::all_gather, {std::int64_t{ranks} << 18}, gpus(ranks), "pat").duration);
  };
  EXPECT_NEAR(seconds(folded, 1040) / seconds(whole, 1024), 1, 0.15);
}

TEST(Folding, UnevenGroupsAreTimedWhole) {
  Timer timer(build({.nodes = 2, .gpus = 4}), {.nvlink_step = microseconds(1), .network_step = microseconds(12)});
  for (const char* algorithm : {"ring", "tree", "double-binary-tree", "hierarchical"}) {
    const Timing folded = one(timer, Operation::all_reduce, {700'000}, gpus(7), algorithm);
    EXPECT_EQ(folded.duration, one(timer, Operation::all_reduce, {700'000}, gpus(7), algorithm, false).duration);
    EXPECT_GT(folded.duration, folded.latency);
  }
}

TEST(Folding, WhatIsAskedForWholeIsFoldedWhereThatChangesNothing) {
  const topology::Cluster cluster = build({.nodes = 4, .gpus = 8});
  const Transport transport{.nvlink_step = microseconds(1), .network_step = microseconds(3)};
  Timer whole(cluster, transport), folding(cluster, transport, true);
  std::vector<Group> groups(2);  // the even and the odd GPUs
  for (std::uint32_t g = 0; g < 32; ++g) groups[g % 2].push_back(topology::GpuId{g});
  for (const std::int64_t bytes : {1'000'000LL, 64'000'000LL}) {
    for (const std::uint32_t own : {0u, 1u}) {
      const Details details{.own = own};
      Timing slow = whole.time(Operation::all_reduce, {bytes}, groups, "auto", false, details);
      const Timing& fast = folding.time(Operation::all_reduce, {bytes}, groups, "auto", false, details);
      std::erase_if(slow.loads, [](const Timing::Load& load) { return load.bytes == 0; });  // the other group's
      EXPECT_TRUE(fast.exact);
      EXPECT_EQ(fast.duration, slow.duration);
      EXPECT_EQ(fast.algorithm, slow.algorithm);
      ASSERT_EQ(fast.loads.size(), slow.loads.size());
      for (std::size_t i = 0; i < slow.loads.size(); ++i) {
        EXPECT_EQ(fast.loads[i].link, slow.loads[i].link);
        EXPECT_NEAR(fast.loads[i].bytes, slow.loads[i].bytes, 1e-9 * static_cast<double>(bytes));
      }
    }
  }
}

/// One group lies in a node and one on two: the first ends before the second, folded where that is exact or not.
TEST(Folding, GroupsThatLieUnlikeEachHaveTheirOwnTime) {
  const topology::Cluster cluster = build({.nodes = 2, .nic_latency = nanoseconds(700)});
  const Transport transport{.launch = microseconds(5), .nvlink_step = microseconds(2), .network_step = microseconds(7)};
  const Timer whole(cluster, transport), folds(cluster, transport, true);
  const std::vector<Group> groups{gpus(2, 0, 6), gpus(2, 2, 6)};
  const auto own = [&](const Timer& timer) {
    return timer.time(Operation::all_to_all, Bytes{1 << 24}, groups, "direct", false, {.own = 1}).duration;
  };
  EXPECT_LT(own(folds), folds.time(Operation::all_to_all, Bytes{1 << 24}, groups, "direct").duration);
  EXPECT_EQ(own(folds), own(whole));
}

}  // namespace
}  // namespace stepcast::collectives
