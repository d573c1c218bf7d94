#include "collectives/timing/timer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <thread>

#include "collectives/algorithms.h"
#include "sim/input_error.h"
#include "tests/collectives/fixtures.h"
#include "tests/sanitized.h"

namespace stepcast::collectives {
namespace {

using test::build;
using test::build_torus;
using test::gpus;
using test::Machine;
using test::one;

constexpr Bandwidth kPort{25e9};
constexpr Bandwidth kNvlink{100e9};

/// One GPU on each node of one switch: the uniform network of textbooks. alpha 3 us.
Timer uniform(std::uint32_t ranks, Bytes chunk = {std::int64_t{1} << 40}) {
  return Timer(build({.nodes = ranks, .gpus = 1}), {.network_step = microseconds(3), .chunk = chunk});
}
constexpr Time kAlpha = microseconds(3);

TEST(Timer, RingTakesItsClosedForm) {
  for (const std::uint32_t p : {2u, 3u, 7u, 8u, 33u}) {
    Timer timer = uniform(p);
    for (const std::int64_t part : {0LL, 1LL, 1000LL, 12345LL, 1'000'000LL}) {
      const Bytes bytes{part * p};
      const Time step = kAlpha + Bytes{part} / kPort;
      for (const bool fold : {true, false}) {
        EXPECT_EQ(one(timer, Operation::all_reduce, bytes, gpus(p), "ring", fold).duration, step * (2 * (p - 1)));
        EXPECT_EQ(one(timer, Operation::all_gather, bytes, gpus(p), "ring", fold).duration, step * (p - 1));
        EXPECT_EQ(one(timer, Operation::reduce_scatter, bytes, gpus(p), "ring", fold).duration, step * (p - 1));
      }
    }
  }
}

/// A ring of an even side sends most up, where half way round goes too: 1 + 2 + ... + side / 2 messages from each of
/// its GPUs to each of the rows. The busiest links are those of the longer side and take all the time.
TEST(Timer, DirectAllToAllOnATorusTakesItsClosedForm) {
  for (const auto& [wide, high] : {std::pair{4u, 4u}, {8u, 4u}, {4u, 6u}, {16u, 16u}}) {
    Timer timer(build_torus(wide, high), {.nvlink_step = kAlpha});
    const std::uint32_t p = wide * high, half = std::max(wide, high) / 2;
    const std::int64_t messages = half * (half + 1) / 2 * std::min(wide, high);
    const Bytes bytes{std::int64_t{p} * 100'000};
    EXPECT_EQ(one(timer, Operation::all_to_all, bytes, gpus(p), "direct").duration,
              kAlpha + Bytes{100'000 * messages} / kNvlink)
        << wide << 'x' << high;
  }
}

TEST(Timer, AutoOnATorusGoesAlongItsRowsAndColumns) {
  Timer timer(build_torus(8, 4), {.nvlink_step = kAlpha});
  Timer part(build_torus(8, 4), {.nvlink_step = kAlpha});
  const Bytes bytes{32 * 1'000'000};
  for (const Operation operation : {Operation::all_gather, Operation::reduce_scatter, Operation::all_reduce}) {
    const Timing timing = one(timer, operation, bytes, gpus(32), "auto");
    EXPECT_EQ(timing.algorithm, "torus-2d");
    EXPECT_LT(timing.duration * 2, one(timer, operation, bytes, gpus(32), "ring").duration);
    EXPECT_NE(one(part, operation, bytes, gpus(24), "auto").algorithm, "torus-2d") << "a part of it is none";
  }
}

// Two adapters: rings that enter a node at different GPUs. A GPU beside the root is one of the first on its ring and
// one of the last on the other, and takes part in the next repetition when it is done with both. From 64 KiB on NCCL
// has two channels of Simple.
TEST(Timer, RepetitionsOfABroadcastOverlapOnOneChannelAlone) {
  const Bytes few{65'535}, many{65'536};
  Timer two(build({.nodes = 8, .gpus = 4, .nics = 2}), {.network_step = microseconds(10)});
  for (const Operation operation : {Operation::broadcast, Operation::reduce}) {
    const Timing below = one(two, operation, few, gpus(32), "ring"), from = one(two, operation, many, gpus(32), "ring");
    EXPECT_LT(below.interval, microseconds(10));
    EXPECT_GT(below.duration, microseconds(70));
    EXPECT_GT(from.interval, microseconds(60));
    EXPECT_LE(from.interval, from.duration);
  }
  Timer alone(build({.nodes = 8, .gpus = 1}), {.network_step = microseconds(10)});
  EXPECT_LT(one(alone, Operation::broadcast, many, gpus(8), "ring").interval, microseconds(10));
}

TEST(Timer, RingBroadcastOfOnePieceWalksTheChain) {
  Timer timer = uniform(6);
  const Bytes small{8};  // too small to be cut with profit
  const Time hop = kAlpha + small / kPort;
  EXPECT_EQ(one(timer, Operation::broadcast, small, gpus(6), "ring").duration, hop * 5);
  EXPECT_EQ(one(timer, Operation::reduce, small, gpus(6), "ring").duration, hop * 5);
}

/// Up and down a complete binary tree; two children share their parent's port both ways.
TEST(Timer, UncutBinaryTreeTakesItsClosedForm) {
  for (const std::uint32_t levels : {2u, 3u, 5u}) {
    const std::uint32_t p = (1u << levels) - 1;
    Timer timer = uniform(p);
    const Bytes small{25};  // 1 ns alone
    const Time level = kAlpha + Bytes{2 * 25} / kPort;
    EXPECT_EQ(one(timer, Operation::all_reduce, small, gpus(p), "tree").duration, level * (2 * (levels - 1)));
    EXPECT_EQ(one(timer, Operation::broadcast, small, gpus(p), "tree").duration, level * (levels - 1));
    EXPECT_EQ(one(timer, Operation::reduce, small, gpus(p), "tree").duration, level * (levels - 1));
  }
}

/// Depth of both trees: from a leaf to the root, floor(log2 P) hops, one more for some P where the places are shifted.
TEST(Timer, DoubleBinaryTreeHasTheLatencyOfItsDepthAndFullBandwidth) {
  for (const std::uint32_t p : {2u, 4u, 8u, 32u, 64u}) {
    Timer timer = uniform(p);
    const auto depth = static_cast<std::int64_t>(std::log2(p));
    EXPECT_EQ(one(timer, Operation::all_reduce, {0}, gpus(p), "double-binary-tree").duration, kAlpha * (2 * depth));
  }
  // No rank sends more than 2 n, so with many pieces the time nears 2 n beta.
  for (const std::uint32_t p : {5u, 8u, 15u, 16u}) {
    Timer timer = uniform(p, {1 << 20});
    const Bytes bytes{std::int64_t{1} << 32};
    const double least = to_seconds(bytes * 2 / kPort);
    const double found = to_seconds(one(timer, Operation::all_reduce, bytes, gpus(p), "double-binary-tree").duration);
    EXPECT_GE(found, least * (p - 1) / p);  // what any all-reduce must send
    EXPECT_LE(found, 1.05 * least) << p;
  }
}

TEST(Timer, DirectAllToAllIsBoundByThePort) {
  for (const std::uint32_t p : {2u, 5u, 16u}) {
    Timer timer = uniform(p);
    const Bytes each{100'000};
    for (const bool fold : {true, false}) {
      EXPECT_EQ(one(timer, Operation::all_to_all, each * p, gpus(p), "direct", fold).duration,
                kAlpha + each * (p - 1) / kPort);
    }
  }
}

TEST(Timer, SendRecvTakesAlphaAndBytes) {
  Timer timer = uniform(2);
  const Timing timing = one(timer, Operation::send_recv, {1'000'000}, gpus(2), "auto");
  EXPECT_EQ(timing.duration, kAlpha + Bytes{1'000'000} / kPort);
  EXPECT_EQ(timing.latency, kAlpha);
  EXPECT_EQ(timing.algorithm, "send-recv");
}

TEST(Timer, SendRecvGoesTheWayItIsAsked) {
  const topology::Cluster cluster = build({.nodes = 2, .gpus = 1});
  Timer timer(cluster, {});
  const Timing back = one(timer, Operation::send_recv, {1000}, {topology::GpuId{1}, topology::GpuId{0}}, "auto");
  std::vector<topology::LinkId> crossed;
  for (const Timing::Load& load : back.loads) crossed.push_back(load.link);
  EXPECT_THAT(crossed, testing::UnorderedElementsAreArray(cluster.path(topology::GpuId{1}, topology::GpuId{0}).links));
}

/// A pipeline of many pieces, told from its first ones, lies close to one that is simulated to the end. Many pieces are
/// simulated where one costs little: over few ranks. The same tree over more ranks differs by its depth alone.
TEST(Timer, LongPipelinesApproachTheirBusiestLink) {
  for (const char* algorithm : {"tree", "double-binary-tree"}) {
    for (const std::uint32_t p : {7u, 64u, 256u}) {
      Timer timer = uniform(p);
      const Bytes bytes{std::int64_t{1} << 32};
      const Timing timing = one(timer, Operation::all_reduce, bytes, gpus(p), algorithm);
      double busiest = 0;
      for (const Timing::Load& load : timing.loads) busiest = std::max(busiest, load.bytes / kPort.value);
      EXPECT_GE(to_seconds(timing.duration), busiest * (1 - 1e-6)) << algorithm << " " << p;
      EXPECT_LE(to_seconds(timing.duration), busiest * 1.05) << algorithm << " " << p;
    }
  }
}

/// Where a message by itself costs nothing a pipeline has pieces of a few bytes. What rounding leaves of them is sent
/// too.
TEST(Timer, PipelinesOfShortPiecesAreNoFasterThanTheirPort) {
  Machine machine{.nodes = 2, .gpus = 1};
  for (const char* algorithm : {"tree", "double-binary-tree"}) {
    for (const std::int64_t size : {524288, 1048576, 3145728}) {
      Timer timer(build(machine), {.network_step = {}, .chunk = {std::int64_t{1} << 40}});
      const Timing timing = one(timer, Operation::all_reduce, Bytes{size}, gpus(2), algorithm);
      EXPECT_GE(timing.duration, Bytes{size} / kPort) << algorithm << " " << size;
    }
  }
}

TEST(Timer, TreesReachTheirShareOfTheLinks) {
  const topology::Cluster cluster = build({.nodes = 8, .gpus = 1});
  Timer full(cluster, {}), half(cluster, {.tree_efficiency = 0.5});
  const Bytes bytes{1 << 30};
  EXPECT_NEAR(one(half, Operation::all_reduce, bytes, gpus(8), "tree").duration /
                  one(full, Operation::all_reduce, bytes, gpus(8), "tree").duration,
              2, 1e-3);
  EXPECT_EQ(one(half, Operation::all_reduce, bytes, gpus(8), "ring").duration,
            one(full, Operation::all_reduce, bytes, gpus(8), "ring").duration);
}

/// Behind a CPU an adapter reaches a share of its PCIe link's rate; LL, which goes through host memory, all of it; and
/// behind a switch nothing is lost.
TEST(Timer, AdaptersBehindACpuReachTheirShareOfPcie) {
  Transport half{.host_bridge_efficiency = 0.5};
  half.ll = {.launch = {}, .ramp = {}, .share = 0.5};
  Transport all = half;
  all.host_bridge_efficiency = 1;
  const topology::Cluster behind_cpu = build({.nodes = 2, .gpus = 1, .behind_cpu = true});
  const topology::Cluster behind_switch = build({.nodes = 2, .gpus = 1});
  const Bytes bytes{1 << 30};
  const auto time = [&](const topology::Cluster& cluster, const Transport& transport, const char* way) {
    Timer timer(cluster, transport);
    return one(timer, Operation::all_reduce, bytes, gpus(2), way).duration;
  };
  EXPECT_EQ(time(behind_cpu, all, "ring/Simple"), bytes / kPort);
  EXPECT_EQ(time(behind_cpu, half, "ring/Simple"), bytes / Bandwidth{20e9});  // of 40 GB/s
  EXPECT_EQ(time(behind_cpu, half, "ring/LL"), time(behind_cpu, all, "ring/LL"));
  EXPECT_EQ(time(behind_switch, half, "ring/Simple"), bytes / kPort);
}

TEST(Timer, HierarchicalTakesItsClosedForm) {
  const std::uint32_t nodes = 5, local = 4;
  Timer timer(build({.nodes = nodes, .gpus = local}),
              {.nvlink_step = microseconds(1), .network_step = microseconds(1)});
  const Bytes block{10'000};  // of each rank
  const Bytes bytes = block * (nodes * local);
  const Time inside = (microseconds(1) + block * nodes / kNvlink) * (local - 1);
  const Time between = (microseconds(1) + block / kPort) * (nodes - 1);
  for (const bool fold : {true, false}) {
    EXPECT_EQ(one(timer, Operation::reduce_scatter, bytes, gpus(20), "hierarchical", fold).duration, inside + between);
    EXPECT_EQ(one(timer, Operation::all_gather, bytes, gpus(20), "hierarchical", fold).duration, inside + between);
    EXPECT_EQ(one(timer, Operation::all_reduce, bytes, gpus(20), "hierarchical", fold).duration,
              (inside + between) * 2);
  }
}

TEST(Timer, LinksCarryWhatTheOperationMoves) {
  const std::uint32_t nodes = 4, local = 4, p = 16;
  const topology::Cluster cluster = build({.nodes = nodes, .gpus = local});
  Timer timer(cluster, {});
  const double n = 16 * 4 * 1000;
  const Timing timing = one(timer, Operation::all_gather, {static_cast<std::int64_t>(n)}, gpus(p), "ring");
  double network = 0;
  for (const Timing::Load& load : timing.loads) {
    if (cluster.link(load.link).kind == topology::LinkKind::network) network += load.bytes;
  }
  // Each node's ports, out and in, pass all blocks but one rank's, four channels together.
  EXPECT_DOUBLE_EQ(network, 2.0 * nodes * n * (p - 1) / p);
}

// A rank of PAT sends to log2 P others, but to one at a time: beside other traffic it has the share of one connection.
TEST(Timer, PeersThatTakeTurnsAreOneConnectionOfALink) {
  const auto most = [](const Timing& timing) {
    return std::ranges::max_element(timing.loads, {}, &Timing::Load::connections)->connections;
  };
  constexpr Bytes kBytes{64'000'000};
  constexpr double kRounding = 1e-6;  // of times, to picoseconds
  for (const std::uint32_t nodes : {8u, 11u}) {
    Timer timer(build({.nodes = nodes, .gpus = 1}), {.network_step = kAlpha});
    for (const bool fold : {true, false}) {
      EXPECT_NEAR(most(one(timer, Operation::all_gather, kBytes, gpus(nodes), "pat", fold)), 1, kRounding);
      EXPECT_NEAR(most(one(timer, Operation::reduce_scatter, kBytes, gpus(nodes), "pat", fold)), 1, kRounding);
      EXPECT_NEAR(most(one(timer, Operation::all_gather, kBytes, gpus(nodes), "ring", fold)), 1, kRounding);
      EXPECT_NEAR(most(one(timer, Operation::all_to_all, kBytes, gpus(nodes), "direct", fold)), nodes - 1, kRounding);
    }
  }
  Timer two_of_a_node(build({.nodes = 8, .gpus = 2, .nics = 1}), {.network_step = kAlpha});
  std::vector<Group> groups(2);
  for (std::uint32_t gpu = 0; gpu < 16; ++gpu) groups[gpu % 2].push_back(topology::GpuId{gpu});
  EXPECT_NEAR(most(two_of_a_node.time(Operation::all_gather, kBytes, groups, "pat", true)), 2, kRounding);
  EXPECT_NEAR(most(two_of_a_node.time(Operation::all_gather, kBytes, groups, "pat", false, {.own = 1})), 1, kRounding);
}

TEST(Timer, BigAllReduceInsideANodeReachesTheLink) {
  Timer timer(build({.nodes = 1, .gpus = 8}), {.launch = microseconds(10), .nvlink_step = microseconds(2)});
  const Bytes bytes{std::int64_t{1} << 33};
  const Timing timing = one(timer, Operation::all_reduce, bytes, gpus(8), "auto");
  const double busbw = static_cast<double>(bytes.value) / to_seconds(timing.duration) * 2 * 7 / 8;
  EXPECT_NEAR(busbw, kNvlink.value, 0.01 * kNvlink.value);
}

TEST(Timer, RingOverNodesUsesEveryNic) {
  Timer timer(build({.nodes = 4, .gpus = 4}), {});
  const Bytes bytes{std::int64_t{1} << 32};
  const double seconds = to_seconds(one(timer, Operation::all_gather, bytes, gpus(16), "ring").duration);
  EXPECT_NEAR(static_cast<double>(bytes.value) / seconds * 15 / 16, std::min(4 * kPort.value, kNvlink.value), 1e9);
}

// What a rank has itself, it copies out of place or adds to what comes in last: one part beside the P - 1 that it
// sends.
TEST(Timer, OwnPartsPassThroughTheBlocksThatSend) {
  Transport copies{};
  copies.own_copy = 0.4;
  Timer with(build({.nodes = 1, .gpus = 4}), copies), without(build({.nodes = 1, .gpus = 4}), {});
  const Group group = gpus(4);
  const Bytes bytes{4'000'000'000};
  const auto more = [&](Operation operation) {
    return to_seconds(with.time(operation, bytes, std::span(&group, 1)).duration) -
           to_seconds(without.time(operation, bytes, std::span(&group, 1)).duration);
  };
  EXPECT_NEAR(more(Operation::all_gather), 0.4 * 1e9 / 100e9, 1e-9);
  EXPECT_NEAR(more(Operation::all_to_all), 0.4 * 1e9 / 100e9, 1e-9);
  EXPECT_NEAR(more(Operation::reduce_scatter), 0.4 * 1e9 / 100e9, 1e-9);
  EXPECT_EQ(more(Operation::all_reduce), 0);
}

// What is spread over a GPU's four NICs moves four times as fast, in a pipeline's later pieces too.
TEST(Timer, PipelinesUseEveryNicOfAGpu) {
  Timer timer(build({.nodes = 2, .gpus = 1, .nics = 4}), {.network_step = microseconds(3)});
  const Bytes bytes{std::int64_t{1} << 32};
  const Group group = gpus(2);
  const double least = static_cast<double>(bytes.value) / (4 * 25e9);
  const Timing timing = timer.time(Operation::broadcast, bytes, std::span(&group, 1), "tree");
  EXPECT_NEAR(to_seconds(timing.duration), least, 0.1 * least);
}

TEST(Timer, SiblingsShareTheirLinks) {
  // Two GPUs per NIC: a group of every second GPU has the NICs alone, both groups share them.
  Timer timer(build({.nodes = 2, .gpus = 4, .nics = 2}), {});
  const std::vector<Group> both{gpus(4, 0, 2), gpus(4, 1, 2)};
  const Bytes bytes{400'000'000};
  const Timing alone = timer.time(Operation::all_gather, bytes, std::span(both).first(1), "ring");
  const Timing shared = timer.time(Operation::all_gather, bytes, both, "ring");
  EXPECT_GT(to_seconds(shared.duration), 1.5 * to_seconds(alone.duration));
}

TEST(Timer, ScalesWithRatesAndLatencies) {
  const Machine slow{
      .nodes = 4, .gpus = 4, .network_adds = true, .nvlink_latency = nanoseconds(400), .nic_latency = nanoseconds(800)};
  Machine fast = slow;
  fast.faster = 4;
  fast.nvlink_latency = nanoseconds(100);
  fast.nic_latency = nanoseconds(200);
  Timer a(build(slow), {.launch = microseconds(8), .nvlink_step = microseconds(2), .network_step = microseconds(12)});
  Timer b(build(fast), {.launch = microseconds(2), .nvlink_step = nanoseconds(500), .network_step = microseconds(3)});
  for (const Algorithm* algorithm : algorithms()) {
    for (const Operation operation : {Operation::all_reduce, Operation::all_gather, Operation::all_to_all}) {
      if (!algorithm->supports({.operation = operation,
                                .ranks = 16,
                                .nodes = 4,
                                .channels = 4,
                                .nvlink_sharp = true,
                                .in_network_reduction = true}))
        continue;
      for (const std::int64_t bytes : {16'000LL, 16'000'000LL}) {
        const double ratio = one(a, operation, {bytes}, gpus(16), algorithm->name).duration /
                             one(b, operation, {bytes}, gpus(16), algorithm->name).duration;
        EXPECT_NEAR(ratio, 4, 1e-5) << algorithm->name << " " << name(operation) << " " << bytes;
      }
    }
  }
}

TEST(Timer, AutoIsNeverSlowerThanAnyItConsiders) {
  Timer timer(build({.nodes = 4, .gpus = 8}), {.nvlink_step = microseconds(2), .network_step = microseconds(12)});
  for (std::int64_t bytes = 1024; bytes <= (std::int64_t{1} << 32); bytes *= 16) {
    const Timing chosen = one(timer, Operation::all_reduce, {bytes}, gpus(32), "auto");
    for (const Algorithm* algorithm : algorithms()) {
      if (!algorithm->automatic({.operation = Operation::all_reduce, .ranks = 32, .nodes = 4}) ||
          algorithm->name == "direct" || algorithm->name == "send-recv") {
        continue;
      }
      EXPECT_LE(chosen.duration, one(timer, Operation::all_reduce, {bytes}, gpus(32), algorithm->name).duration)
          << algorithm->name << " " << bytes;
    }
  }
  EXPECT_EQ(one(timer, Operation::all_gather, {1 << 20}, gpus(32), "auto").algorithm, "ring");
  EXPECT_EQ(one(timer, Operation::all_to_all, {1 << 20}, gpus(32), "auto").algorithm, "direct");
}

TEST(Timer, LeastIsNoMoreThanTheTimeOfAnyCollective) {
  const Transport transport{.nvlink_step = microseconds(2), .network_step = microseconds(12)};
  double told = 0, count = 0;
  for (const std::uint32_t size : {2u, 4u, 6u, 12u})
    for (const Operation operation : {Operation::all_reduce, Operation::all_gather, Operation::reduce_scatter,
                                      Operation::all_to_all, Operation::broadcast})
      for (const std::int64_t bytes : {0LL, 12'000LL, 1'200'000LL, 1'200'000'000LL}) {
        SCOPED_TRACE(std::to_string(size) + " ranks, " + std::string(name(operation)) + ", bytes " +
                     std::to_string(bytes));
        Timer timer(build({.nodes = 6, .gpus = 4}), transport);
        std::vector<Group> groups;
        for (std::uint32_t first = 0; first + size <= 24; first += size) {
          groups.emplace_back();
          for (std::uint32_t i = 0; i < size; ++i) groups.back().push_back(topology::GpuId{first + i});
        }
        const Time least = timer.least(operation, {bytes}, groups),
                   time = timer.time(operation, {bytes}, groups).duration;
        EXPECT_LE(least, time);
        EXPECT_EQ(timer.least(operation, {bytes}, groups), least) << "whatever is known by now";
        told += time > Time{} ? least / time : 1;
        ++count;
      }
  EXPECT_GT(told / count, 0.7);
}

// Over so many ranks trees are simulated whole where folding is not exact, the others folded.
TEST(Timer, LeastIsNoMoreThanTheTimeOverManyRanksWhoseWaysAreUnlike) {
  LEFT_TO_RELEASE();
  const Transport transport{.network_step = microseconds(7)};
  for (const char* routing : {"adaptive", "hash"})
    for (const std::string_view name : {"auto", "pat", "double-binary-tree", "ring"})
      for (const Operation operation : {Operation::all_reduce, Operation::all_gather, Operation::reduce_scatter})
        for (const std::int64_t bytes : {0LL, 160LL << 10, 160LL << 20}) {
          if (name != "auto" && !algorithm(name).supports({.operation = operation, .ranks = 160, .nodes = 160}))
            continue;
          SCOPED_TRACE(std::string(routing) + " " + std::string(name) + " " +
                       std::string(collectives::name(operation)) + " " + std::to_string(bytes));
          Timer timer(build({.nodes = 160,
                             .gpus = 1,
                             .fabric = "rail-fat-tree",
                             .radix = 40,
                             .routing = routing,
                             .oversubscription = 2}),
                      transport);
          const std::vector<Group> all{gpus(160)};
          EXPECT_LE(timer.least(operation, {bytes}, all, name), timer.time(operation, {bytes}, all, name).duration);
        }
}

TEST(Timer, RemembersExactlyWhatItWouldWorkOutAgain) {
  const topology::Cluster cluster = build({.nodes = 3, .gpus = 4});
  const Transport transport{.nvlink_step = microseconds(2), .network_step = microseconds(12)};
  Timer used(cluster, transport);
  for (int round = 0; round < 2; ++round) {
    for (const std::int64_t bytes : {1000LL, 1'000'000LL}) {
      Timer fresh(cluster, transport);
      const Timing again = one(used, Operation::all_reduce, {bytes}, gpus(12), "auto");
      const Timing first = one(fresh, Operation::all_reduce, {bytes}, gpus(12), "auto");
      EXPECT_EQ(again.duration, first.duration);
      EXPECT_EQ(again.algorithm, first.algorithm);
      EXPECT_EQ(again.loads.size(), first.loads.size());
    }
  }
}

TEST(Timer, IsSafeToShareBetweenThreads) {
  Timer timer(build({.nodes = 4, .gpus = 4}), {.nvlink_step = microseconds(2), .network_step = microseconds(12)});
  std::vector<std::map<std::int64_t, Time>> found(4);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < found.size(); ++t) {
    threads.emplace_back([&, t] {
      for (std::int64_t i = 1; i <= 20; ++i) {
        const std::int64_t bytes = i % 7 * 100'000;
        found[t][bytes] = one(timer, Operation::all_reduce, {bytes}, gpus(16), "auto").duration;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& mine : found) EXPECT_EQ(mine, found.front());
}

TEST(Timer, OneRankTakesNoTime) {
  Timer timer(build({.nodes = 1, .gpus = 2}), {.launch = microseconds(5)});
  EXPECT_EQ(one(timer, Operation::all_reduce, {1 << 20}, gpus(1), "auto").duration, Time{});
  EXPECT_EQ(one(timer, Operation::all_reduce, {0}, gpus(1), "auto").latency, Time{});
}

TEST(Timer, OrderOfTheRanksDoesNotMatter) {
  Timer timer(build({.nodes = 2, .gpus = 4}), {.network_step = microseconds(12)});
  Group mixed = gpus(8);
  std::swap(mixed[0], mixed[6]);
  std::swap(mixed[3], mixed[5]);
  EXPECT_EQ(one(timer, Operation::all_reduce, {1 << 20}, mixed, "ring").duration,
            one(timer, Operation::all_reduce, {1 << 20}, gpus(8), "ring").duration);
}

template <class Call>
std::string error_of(Call call) {
  try {
    call();
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Timer, SaysWhatIsWrong) {
  Timer timer(build({.nodes = 1, .gpus = 4}), {});
  const auto time = [&](std::vector<Group> groups, std::string_view algorithm, Operation operation) {
    return error_of([&] { timer.time(operation, {8}, groups, algorithm); });
  };
  EXPECT_THAT(time({gpus(4)}, "rign", Operation::all_reduce),
              testing::AllOf(testing::StartsWith("algorithm: found 'rign', expected one of ring, tree, "),
                             testing::EndsWith(", auto, nccl, library; did you mean 'ring'?")));
  EXPECT_EQ(time({gpus(4)}, "tree", Operation::all_gather),
            "algorithm: 'tree' cannot do all_gather over 4 ranks: there it does all_reduce, broadcast, reduce");
  EXPECT_EQ(time({gpus(2), gpus(1, 3)}, "ring", Operation::all_reduce),
            "concurrent groups are of one size: found 2 and 1 GPUs");
  EXPECT_EQ(time({{topology::GpuId{1}, topology::GpuId{1}}}, "ring", Operation::all_reduce),
            "GPU 1 is twice in one group");
  EXPECT_EQ(time({gpus(2, 3)}, "ring", Operation::all_reduce), "GPU 4 of a cluster of 4");
  EXPECT_EQ(time({}, "ring", Operation::all_reduce), "a collective needs at least one GPU");
  EXPECT_THAT(time({gpus(1)}, "rings", Operation::all_reduce),
              testing::AllOf(testing::StartsWith("algorithm: found 'rings', expected one of "),
                             testing::EndsWith("; did you mean 'ring'?")));
}

TEST(Timer, WhatStaysInANodeTakesTheSameInEachOnItsOwnLinks) {
  const topology::Cluster cluster = build({.nodes = 4, .gpus = 8, .fabric = "rail-fat-tree", .radix = 8});
  const Timer timer(cluster, {.nvlink_step = microseconds(2), .network_step = microseconds(5)});
  const auto in_node = [](std::uint32_t node) {
    return std::vector<Group>{gpus(4, node * 8), {topology::GpuId{node * 8 + 7}, topology::GpuId{node * 8 + 5}}};
  };
  for (const Operation operation : {Operation::all_reduce, Operation::all_to_all, Operation::all_gather})
    for (const std::uint32_t node : {1u, 3u}) {
      const std::vector<Group> there{in_node(node).front()}, first{in_node(0).front()};
      const Timing &moved = timer.time(operation, {1 << 20}, there), &known = timer.time(operation, {1 << 20}, first);
      EXPECT_EQ(moved.duration, known.duration);
      EXPECT_EQ(moved.algorithm, known.algorithm);
      ASSERT_EQ(moved.loads.size(), known.loads.size());
      for (std::size_t i = 0; i < known.loads.size(); ++i) {
        EXPECT_TRUE(cluster.in_node_of(there.front().front(), moved.loads[i].link));
        EXPECT_EQ(index(moved.loads[i].link) - index(known.loads[i].link), node * cluster.links_per_node());
        EXPECT_EQ(moved.loads[i].bytes, known.loads[i].bytes);
        EXPECT_EQ(moved.loads[i].occupied, known.loads[i].occupied);
      }
    }
  // A send of the third node crosses the links between these GPUs and no others.
  const std::vector<Group> pair{in_node(2).back()};
  std::vector<topology::LinkId> crossed;
  for (const Timing::Load& load : timer.time(Operation::send_recv, {1 << 20}, pair).loads)
    if (load.bytes > 0) crossed.push_back(load.link);
  EXPECT_THAT(crossed, testing::UnorderedElementsAreArray(cluster.path(pair[0][0], pair[0][1]).links));
  const std::vector<Group> twice{{topology::GpuId{9}, topology::GpuId{9}}};
  EXPECT_EQ(error_of([&] { timer.time(Operation::all_reduce, {1}, twice); }), "GPU 9 is twice in one group");
}

TEST(Plan, OfTooManyTransfersIsRefusedBeforeItIsMade) {
  CollectivePlan plan;
  EXPECT_THROW(plan.reserve(kMostTransfers + 1, 0), InputError);
  EXPECT_TRUE(plan.transfers.empty());
}

TEST(Timer, APlanBetweenAllPairsOfTooManyRanksIsRefused) {
  // Each pair draws its own way: none stands for another.
  Timer timer(build({.nodes = 4096, .gpus = 8, .fabric = "rail-fat-tree", .radix = 128, .routing = "hash"}), {});
  const std::vector<Group> all{gpus(32768)};
  EXPECT_THAT(error_of([&] { timer.time(Operation::all_to_all, {1 << 20}, all, "pairwise"); }),
              testing::HasSubstr("ways between GPUs is not simulated"));
}

}  // namespace
}  // namespace stepcast::collectives
