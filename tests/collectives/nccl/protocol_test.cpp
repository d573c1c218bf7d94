#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "collectives/forced.h"
#include "collectives/timing/timer.h"
#include "sim/input_error.h"
#include "tests/collectives/fixtures.h"

namespace stepcast::collectives {
namespace {

using test::build;
using test::gpus;

/// Simple is slow to start and has the whole rate; LL the other way round.
Transport three_protocols() {
  Transport transport;
  transport.launch = microseconds(20);
  transport.nvlink_step = microseconds(3);
  transport.network_step = microseconds(10);
  transport.channels = 16;
  transport.ll128 = {.launch = microseconds(12),
                     .ramp = {},
                     .nvlink_step = nanoseconds(1500),
                     .pcie_step = {},
                     .host_step = {},
                     .network_step = microseconds(5),
                     .share = 0.9};
  transport.ll = {.launch = microseconds(6),
                  .ramp = {},
                  .nvlink_step = nanoseconds(500),
                  .pcie_step = {},
                  .host_step = {},
                  .network_step = microseconds(2),
                  .share = 0.25};
  return transport;
}

Time time(Timer& timer, Bytes bytes, std::string_view algorithm, const std::vector<Group>& groups, bool fold = true) {
  return timer.time(Operation::all_reduce, bytes, groups, algorithm, fold).duration;
}

TEST(Protocols, EachIsItsLaunchItsStepsAndItsShareOfTheRate) {
  Timer timer(build({}), three_protocols());
  const std::vector<Group> groups = {gpus(8)};
  const Bytes bytes{8 << 20};
  const double moved = 2.0 * 7 / 8 * static_cast<double>(bytes.value) / 100e9;
  EXPECT_NEAR(to_seconds(time(timer, bytes, "ring/Simple", groups)), 20e-6 + 14 * 3e-6 + moved, 1e-10);
  EXPECT_NEAR(to_seconds(time(timer, bytes, "ring/LL128", groups)), 12e-6 + 14 * 1.5e-6 + moved / 0.9, 1e-10);
  EXPECT_NEAR(to_seconds(time(timer, bytes, "ring/LL", groups)), 6e-6 + 14 * 0.5e-6 + moved / 0.25, 1e-10);
}

TEST(Protocols, TheFastestPredictedIsTaken) {
  Timer timer(build({.nodes = 2}), three_protocols());
  const std::vector<Group> groups = {gpus(16)};
  std::string sequence;
  for (std::int64_t bytes = 8; bytes <= std::int64_t{1} << 30; bytes *= 2) {
    const Timing best = timer.time(Operation::all_reduce, {bytes}, groups);
    Time least = microseconds(1'000'000);
    for (const char* name : {"ring", "double-binary-tree"}) {
      for (const char* protocol : {"/Simple", "/LL128", "/LL"}) {
        least = std::min(least, time(timer, {bytes}, std::string(name) + protocol, groups));
      }
    }
    EXPECT_EQ(best.duration, least) << bytes;
    if (!sequence.ends_with(best.protocol)) sequence += ' ' + best.protocol;
  }
  EXPECT_EQ(sequence, " LL LL128 Simple");
}

TEST(Protocols, SmallSizesTakeFewerChannelsByTheSquareRoot) {
  Transport transport;
  transport.launch = microseconds(10);
  transport.ramp = microseconds(40);
  transport.channels = 64;
  Timer timer(build({}), transport);
  const std::vector<Group> groups = {gpus(8)};
  const auto expected = [](double moving) {  // microseconds
    const double share = std::clamp(std::sqrt(moving / 40), 1.0 / 64, 1.0);
    return 10 + 40 * share + moving / share;
  };
  for (const double moving : {0.01, 0.1, 1.0, 10.0, 39.0, 100.0, 1000.0}) {
    const Bytes bytes{static_cast<std::int64_t>(moving * 1e-6 * 100e9 * 8 / 14) / 8 * 8};
    EXPECT_NEAR(to_seconds(time(timer, bytes, "ring", groups)) * 1e6 / expected(moving), 1, 0.01) << moving;
  }
}

TEST(Protocols, FoldedIsUnfoldedWithAllOfThem) {
  Transport transport = three_protocols();
  transport.ramp = microseconds(30);
  transport.ll.ramp = microseconds(25);
  transport.ll128.ramp = microseconds(25);
  Timer timer(build({.nodes = 4, .gpus = 4}), transport);
  const std::vector<Group> groups = {gpus(16)};
  for (const char* name : {"auto", "ring/LL", "ring/LL128", "ring/Simple"}) {
    for (std::int64_t bytes = 64; bytes <= std::int64_t{64} << 20; bytes *= 4) {
      EXPECT_EQ(time(timer, {bytes}, name, groups), time(timer, {bytes}, name, groups, false)) << name << bytes;
    }
  }
}

TEST(Protocols, MessagesKnowLowLatencyUpTo16KiBAndSimpleBeyond) {
  Transport transport = three_protocols();
  transport.p2p.share = 1;
  transport.p2p.nvlink_step = microseconds(20);
  Timer timer(build({}), transport);
  const std::vector<Group> all = {gpus(8)}, pair = {gpus(2)};
  constexpr std::int64_t most = 16 << 10;
  EXPECT_EQ(timer.time(Operation::all_to_all, {8 * most}, all).protocol, "LL");
  EXPECT_EQ(timer.time(Operation::all_to_all, {8 * most + 8}, all).protocol, "Simple");
  EXPECT_EQ(timer.time(Operation::gather, {8 * most}, all).protocol, "LL");
  EXPECT_EQ(timer.time(Operation::send_recv, {most}, pair).protocol, "LL");
  EXPECT_EQ(timer.time(Operation::send_recv, {most + 1}, pair).protocol, "Simple");
  // Between nodes there are no buffers for it.
  Timer two_nodes(build({.nodes = 2}), transport);
  const std::vector<Group> both = {gpus(16)};
  EXPECT_EQ(two_nodes.time(Operation::all_to_all, {1024}, both).protocol, "Simple");
  // The largest of uneven messages counts: of 7 shares one is 16 KiB.
  Details uneven{.pair_weights = std::vector<std::int64_t>(64, 1)};
  for (std::size_t at = 0; at < 64; at += 9) uneven.pair_weights[at] = 0;
  EXPECT_EQ(timer.time(Operation::all_to_all, {7 * most}, all, "auto", true, uneven).protocol, "LL");
  uneven.pair_weights[1] = 2;
  EXPECT_EQ(timer.time(Operation::all_to_all, {8 * most}, all, "auto", true, uneven).protocol, "Simple");
}

TEST(Protocols, MessagesTakeLowLatencyWhereItIsFasterAndOverNoNetwork) {
  Transport transport = three_protocols();
  transport.p2p = {.launch = microseconds(7),
                   .ramp = {},
                   .nvlink_step = nanoseconds(100),
                   .pcie_step = {},
                   .host_step = {},
                   .network_step = microseconds(20),
                   .share = 1};
  Timer timer(build({.nodes = 2}), transport);
  const std::vector<Group> node = {gpus(8)}, both = {gpus(16)};
  EXPECT_EQ(timer.time(Operation::all_to_all, {8 << 10}, node).protocol, "Simple");
  EXPECT_EQ(timer.time(Operation::all_to_all, {8 << 10}, both).protocol, "Simple");
  Time before{};
  for (std::int64_t bytes = 1 << 10; bytes <= 1 << 22; bytes *= 2) {
    const Time time = timer.time(Operation::all_to_all, {bytes}, node).duration;
    EXPECT_GE(time, before) << bytes;
    before = time;
  }
}

TEST(Protocols, WhatIsForcedOnCollectivesIsNotForcedOnMessages) {
  Transport transport = three_protocols();
  transport.p2p.share = 1;
  transport.p2p.nvlink_step = microseconds(20);
  transport.forced.protocols = {"LL128"};
  Timer timer(build({}), transport);
  const std::vector<Group> all = {gpus(8)};
  EXPECT_EQ(timer.time(Operation::all_reduce, {1 << 20}, all).protocol, "LL128");
  EXPECT_EQ(timer.time(Operation::all_to_all, {1 << 20}, all).protocol, "Simple");
  EXPECT_EQ(timer.time(Operation::all_to_all, {1 << 10}, all).protocol, "LL");
}

/// Each further message of the busiest rank costs the same: n - 1 of them in an all_to_all, one in a send_recv.
TEST(Protocols, EachFurtherMessageOfARankCostsTheSame) {
  Transport transport = three_protocols();
  transport.p2p.share = 1;
  Transport costly = transport;
  costly.p2p.message = microseconds(3);
  Timer timer(build({.nodes = 2}), transport), slower(build({.nodes = 2}), costly);
  const auto more = [&](Operation operation, std::uint32_t ranks, const Details& details = {}) {
    const std::vector<Group> group = {gpus(ranks)};
    const auto with = [&](Timer& each) {
      return each.time(operation, {1 << 20}, group, "auto", true, details).duration;
    };
    return with(slower) - with(timer);
  };
  for (const std::uint32_t ranks : {2u, 8u, 16u})
    EXPECT_EQ(more(Operation::all_to_all, ranks), microseconds(3) * (std::int64_t{ranks} - 2)) << ranks;
  EXPECT_EQ(more(Operation::gather, 8), microseconds(3 * 6));
  EXPECT_EQ(more(Operation::send_recv, 2), Time{});
  EXPECT_EQ(more(Operation::all_reduce, 8), Time{});
  // Of uneven ones those count that are sent at all: rank 0 sends three, rank 3 takes in as many.
  Details uneven{.pair_weights = std::vector<std::int64_t>(64, 0)};
  for (const std::size_t at : {1u, 2u, 3u, 8u + 3u, 16u + 3u}) uneven.pair_weights[at] = 1;
  EXPECT_EQ(more(Operation::all_to_all, 8, uneven), microseconds(3 * 2));
}

TEST(Protocols, ReleasesOfNcclHaveNoAlgorithmsOfLaterOnes) {
  Transport transport = three_protocols();
  transport.nvls.share = 1;
  const auto taken = [&](const char* version, std::uint32_t nodes) {
    transport.nccl_version = version;
    Timer timer(build({.nodes = nodes}), transport);
    const std::vector<Group> all = {gpus(8 * nodes)};
    return timer.time(Operation::all_reduce, {1 << 30}, all).algorithm;
  };
  EXPECT_EQ(taken("2.16.5", 1), "ring");
  EXPECT_EQ(taken("2.17.1", 1), "nvls");
  EXPECT_NE(taken("2.17.1", 2), "nvls-tree");
  EXPECT_EQ(taken("2.18.1", 2), "nvls-tree");
}

TEST(Protocols, WhatIsForbiddenIsNeverTakenAndNothingElseIsAdded) {
  Transport transport = three_protocols();
  transport.nvls.share = 1;
  const std::vector<Group> both = {gpus(16)};
  const auto run = [&](Operation operation, std::string_view name) {
    return Timer(build({.nodes = 2}), transport).time(operation, {8}, both, name);
  };
  const Timing gathered = run(Operation::all_gather, "auto");
  transport.forced.without = {"nvls-tree"};
  EXPECT_EQ(run(Operation::all_gather, "auto").algorithm, gathered.algorithm);
  EXPECT_EQ(run(Operation::all_gather, "auto").duration, gathered.duration);
  transport.forced.without = {"ring", "double-binary-tree", "nvls", "nvls-tree"};
  for (const std::string_view name : {"auto", "library", "nccl"}) {
    EXPECT_THROW(run(Operation::all_gather, name), InputError) << name;
    EXPECT_THROW(run(Operation::all_reduce, name), InputError) << name;
  }
  transport.as_nccl_picks = true;
  EXPECT_THROW(run(Operation::all_reduce, "library"), InputError);
  EXPECT_EQ(run(Operation::all_to_all, "auto").algorithm, "direct");  // messages know none of these
}

TEST(Protocols, AListSaysTheseAloneOrAnyButThese) {
  EXPECT_EQ(forced_algorithms("Ring,Tree").alone, (std::vector<std::string>{"ring", "double-binary-tree"}));
  EXPECT_EQ(forced_algorithms("^NVLSTree,nvls-tree").without, std::vector<std::string>{"nvls-tree"});
  EXPECT_TRUE(forced_algorithms("^ring").alone.empty());
  EXPECT_EQ(forced_protocols("^LL"), (std::vector<std::string>{"Simple", "LL128"}));
  try {
    forced_algorithms("^Ring,CollNet");
    ADD_FAILURE() << "no error";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("or NCCL's Tree, NVLSTree, CollNetDirect, CollNetChain"),
              std::string::npos);
  }
}

TEST(Protocols, MessagesMayHaveTimesOfTheirOwn) {
  Transport transport = three_protocols();
  transport.p2p = {.launch = microseconds(7),
                   .ramp = {},
                   .nvlink_step = microseconds(2),
                   .pcie_step = {},
                   .host_step = {},
                   .network_step = {},
                   .share = 0.8};
  Timer timer(build({}), transport);
  const std::vector<Group> pair = {gpus(2)};
  const auto seconds = [&](std::int64_t bytes, std::string_view name) {
    return to_seconds(timer.time(Operation::send_recv, {bytes}, pair, name).duration);
  };
  EXPECT_NEAR(seconds(1 << 20, "auto"), 7e-6 + 2e-6 + (1 << 20) / 80e9, 1e-10);
  EXPECT_EQ(seconds(1 << 20, "auto"), seconds(1 << 20, "send-recv/Simple"));
  EXPECT_NEAR(seconds(8192, "auto"), 7e-6 + 0.5e-6 + 8192 / 25e9, 1e-10);  // LL but for the launch
  EXPECT_EQ(time(timer, {1 << 20}, "ring/Simple", pair), time(timer, {1 << 20}, "ring/Simple", pair, false));
  EXPECT_GT(time(timer, {0}, "ring/Simple", pair), microseconds(20));  // collectives keep theirs
}

TEST(Protocols, AStackWithoutThemHasSimpleOnly) {
  Timer timer(build({}), Transport{});
  const std::vector<Group> groups = {gpus(8)};
  EXPECT_EQ(timer.time(Operation::all_reduce, {8}, groups).protocol, "Simple");
  EXPECT_THROW(time(timer, {8}, "ring/LL", groups), InputError);
  EXPECT_THROW(time(timer, {8}, "auto/LL128", groups), InputError);
  EXPECT_THROW(time(timer, {8}, "ring/Fast", groups), InputError);
}

}  // namespace
}  // namespace stepcast::collectives
