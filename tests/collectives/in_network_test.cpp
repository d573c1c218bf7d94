// Reduction in switches: traffic, time and integers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collectives/algorithms.h"
#include "collectives/execute.h"
#include "collectives/search/view_links.h"
#include "collectives/timing/timer.h"
#include "sim/input_error.h"
#include "tests/collectives/definition.h"
#include "tests/collectives/fixtures.h"
#include "tests/collectives/islands.h"

namespace stepcast::collectives {
namespace {

using test::build;
using test::gpus;

Request request_of(const topology::Cluster& cluster, std::uint32_t ranks, std::int64_t elements, std::uint32_t nodes) {
  return {.operation = Operation::all_reduce,
          .ranks = ranks,
          .elements = elements,
          .nodes = nodes,
          .pieces = 3,
          .links = nodes == 1 ? view_links(cluster, gpus(ranks)) : LinkView{},
          .nvlink_sharp = cluster.nvlink_sharp(),
          .in_network_reduction = cluster.in_network_reduction()};
}

TEST(InNetwork, AddsRightOnIntegers) {
  for (std::uint32_t ranks : {2u, 3u, 8u, 33u, 72u}) {
    const topology::Cluster cluster = build({.nodes = 1, .gpus = ranks});
    for (const std::int64_t elements : {0u, 1u, ranks - 1, ranks, ranks + 1, 5 * ranks + 1}) {
      const Request request = request_of(cluster, ranks, elements, 1);
      ASSERT_TRUE(algorithm("nvls").supports(request));
      const CollectivePlan plan = algorithm("nvls").plan(request);
      for (const TransferOrder turn : {TransferOrder::first_ready_first, TransferOrder::last_ready_first}) {
        test::Buffers buffers = test::before(request);
        execute(plan, buffers, turn);
        EXPECT_EQ(buffers.size(), ranks);
        EXPECT_EQ(test::wrong(request, buffers), "") << ranks << " " << elements;
      }
    }
  }
}

Time time_over(Timer& timer, std::string_view name, std::uint32_t ranks, Bytes bytes) {
  const Group group = gpus(ranks);
  return timer.time(Operation::all_reduce, bytes, std::span(&group, 1), name).duration;
}

// n (1 + 1 / P) each way against 2 (P - 1) / P n: Klenk et al., section 3.
TEST(InNetwork, NvlsSendsOnceWhatARingSendsTwice) {
  const std::uint32_t p = 8;
  Timer timer(build({.nodes = 1, .gpus = p}), {.nvlink_step = microseconds(1)});
  const Bytes bytes{std::int64_t{1} << 32};
  const double least = static_cast<double>(bytes.value) / 100e9 * (1 + 1.0 / p);
  EXPECT_GE(to_seconds(time_over(timer, "nvls", p, bytes)), least * (1 - 1e-9));
  EXPECT_LE(to_seconds(time_over(timer, "nvls", p, bytes)), least * 1.05);
  EXPECT_NEAR(time_over(timer, "ring", p, bytes) / time_over(timer, "nvls", p, bytes), 14.0 / 9, 0.08);
}

// Up, down to the owner, up again, down to all.
TEST(InNetwork, NvlsTakesFourStepsOverAnyNumberOfGpus) {
  for (const std::uint32_t p : {2u, 8u, 16u}) {
    Timer timer(build({.nodes = 1, .gpus = p}), {.nvlink_step = microseconds(1)});
    EXPECT_EQ(time_over(timer, "nvls", p, {0}), microseconds(4));
  }
}

// n up and n down at every port, whatever the number of nodes: Graham et al., section III.
TEST(InNetwork, SharpSendsOnceWhatARingSendsTwice) {
  for (const std::uint32_t nodes : {2u, 4u, 16u}) {
    Timer timer(build({.nodes = nodes, .gpus = 1, .network_adds = true}), {.network_step = microseconds(3)});
    EXPECT_EQ(time_over(timer, "sharp", nodes, {0}), microseconds(6));
    const Bytes bytes{std::int64_t{1} << 32};
    const double least = static_cast<double>(bytes.value) / 25e9;
    EXPECT_NEAR(to_seconds(time_over(timer, "sharp", nodes, bytes)), least, 0.05 * least);
  }
}

TEST(InNetwork, SharpUsesEveryNic) {
  Timer timer(build({.nodes = 4, .gpus = 2, .network_adds = true}), {});
  const Bytes bytes{std::int64_t{1} << 32};
  const double least = static_cast<double>(bytes.value) / (2 * 25e9);  // NVLink: 2 (G - 1) / G n / 100e9, no more
  EXPECT_NEAR(to_seconds(time_over(timer, "sharp", 8, bytes)), least, 0.05 * least);
}

// Owners of a share exchange halves of it: n / G each way at every NIC, where a ring sends 2 (P - 1) / P n / G.
TEST(InNetwork, NvlsTreeSendsNoMoreThanItsShareBetweenTwoNodes) {
  Timer timer(build({.nodes = 2, .gpus = 2}), {.nvlink_step = microseconds(1), .network_step = microseconds(3)});
  const Bytes bytes{std::int64_t{1} << 34};
  const double least = static_cast<double>(bytes.value) / (2 * 25e9);
  EXPECT_GE(to_seconds(time_over(timer, "nvls-tree", 4, bytes)), least * (1 - 1e-9));
  EXPECT_LE(to_seconds(time_over(timer, "nvls-tree", 4, bytes)), least * 1.05);
  EXPECT_NEAR(time_over(timer, "ring", 4, bytes) / time_over(timer, "nvls-tree", 4, bytes), 1.5, 0.08);
}

// Up and down in the node, once up and once down each level of the tree over the nodes, up and down in the node.
TEST(InNetwork, NvlsTreeTakesFourStepsAndTheTreesOverTheNodes) {
  for (const auto& [nodes, levels] : {std::pair{2u, 1}, {3u, 1}, {4u, 2}, {7u, 2}, {9u, 3}}) {
    Timer timer(build({.nodes = nodes, .gpus = 8}), {.nvlink_step = microseconds(1), .network_step = microseconds(3)});
    EXPECT_EQ(time_over(timer, "nvls-tree", 8 * nodes, {0}), microseconds(4 + 2 * 3 * levels)) << nodes;
  }
}

TEST(InNetwork, FoldedNvlsTreesTakeWhatWholeOnesTake) {
  Timer timer(build({.nodes = 3, .gpus = 4}), {.nvlink_step = microseconds(1), .network_step = microseconds(3)});
  const Group group = gpus(12);
  const auto time = [&](bool fold) {
    return timer.time(Operation::all_reduce, {4 * 8 * 3 << 14}, std::span(&group, 1), "nvls-tree", fold).duration;
  };
  EXPECT_EQ(time(true), time(false));
}

TEST(InNetwork, NvlsNeedsAnNvswitch) {
  const topology::Cluster cluster = test::island(4, test::full_quad());
  EXPECT_FALSE(algorithm("nvls").supports(request_of(cluster, 4, 8, 1)));
}

std::string refusal(const topology::Cluster& cluster, std::string_view name) {
  Timer timer(cluster, {});
  try {
    time_over(timer, name, cluster.gpus(), {1});
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(InNetwork, NeedsSwitchesThatAdd) {
  EXPECT_EQ(refusal(build({.nodes = 1, .gpus = 8, .switches_add = false}), "nvls"),
            "algorithm: 'nvls' cannot do all_reduce over 8 ranks: it needs one node whose NVSwitches join all GPUs and "
            "add (nvlink_sharp: true)");
  EXPECT_EQ(refusal(build({.nodes = 2, .gpus = 2}), "sharp"),
            "algorithm: 'sharp' cannot do all_reduce over 4 ranks: it needs several nodes whose fabric's switches add "
            "(in_network_reduction: true)");
  EXPECT_EQ(refusal(build({.nodes = 2, .gpus = 2, .switches_add = false}), "nvls-tree"),
            "algorithm: 'nvls-tree' cannot do all_reduce over 4 ranks: it needs several nodes whose NVSwitches add "
            "(nvlink_sharp: true)");
  EXPECT_EQ(refusal(build({.nodes = 1, .gpus = 8}), "nvls"), "no error");
  EXPECT_EQ(refusal(build({.nodes = 2, .gpus = 2, .network_adds = true}), "sharp"), "no error");
}

// Where the network adds, a share crosses every adapter once: faster than any ring or tree at every size.
TEST(InNetwork, AutoTakesSharpWhereTheNetworkAdds) {
  for (const bool adds : {false, true}) {
    Timer timer(build({.nodes = 8, .gpus = 4, .network_adds = adds}),
                {.nvlink_step = microseconds(1), .network_step = microseconds(5)});
    const Group group = gpus(32);
    for (const std::int64_t bytes : {std::int64_t{8}, std::int64_t{1} << 20, std::int64_t{1} << 30}) {
      const Timing& best = timer.time(Operation::all_reduce, {bytes}, std::span(&group, 1));
      EXPECT_EQ(best.algorithm == "sharp", adds) << bytes << " " << best.algorithm;
    }
  }
}

TEST(InNetwork, AutoTakesNvlsOnlyWhereSwitchesAdd) {
  Transport transport;
  transport.nvls.share = 1;
  const auto taken = [&](bool add) {
    Timer timer(build({.nodes = 1, .gpus = 8, .switches_add = add}), transport);
    const Group group = gpus(8);
    return timer.time(Operation::all_reduce, {1 << 30}, std::span(&group, 1), "auto").algorithm;
  };
  EXPECT_EQ(taken(true), "nvls");
  EXPECT_NE(taken(false), "nvls");
}

}  // namespace
}  // namespace stepcast::collectives
