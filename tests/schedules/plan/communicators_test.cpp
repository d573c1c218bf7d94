#include "schedules/plan/communicators.h"

#include <gtest/gtest.h>

#include "tests/schedules/scenarios.h"

namespace stepcast::schedules {
namespace {

constexpr std::int64_t kMiB = 1 << 20;

/// Nodes of eight GPUs with NVLink and an adapter each.
Scenario nodes_of_eight(std::uint32_t gpus) {
  Scenario s = round_numbers(gpus);
  s.cluster.gpus = gpus;
  s.cluster.node.gpus = 8;
  s.cluster.node.nics = 8;
  s.cluster.node.nvlink = topology::LinkType{};
  s.software.transport.buffer = {4 * kMiB};
  s.software.transport.channels = 24;
  return s;
}

std::int64_t mebibytes(const Scenario& s, const Communicator& communicator) {
  const Bytes bytes = CommunicatorBuffers(s, std::nullopt).of(communicator);
  EXPECT_EQ(bytes.value % kMiB, 0);
  return bytes.value / kMiB;
}

TEST(CommunicatorBuffers, OfFourA100AreWhatSomebodySawMoreThanOfTwo) {
  // NVIDIA/nccl issue 964: 544 MB where two all-reduce over NVLink, 688 where three or four do; 400 MB are the
  // context's.
  Scenario s = nodes_of_eight(8);
  s.software.transport.channels = 12;
  const std::int64_t of_two = mebibytes(s, {.ranks = 2, .in_node = 2, .sums = true}),
                     of_four = mebibytes(s, {.ranks = 4, .in_node = 4, .sums = true});
  EXPECT_EQ(of_two, 544 - 400);
  EXPECT_EQ(of_four, of_two + (688 - 544));
}

TEST(CommunicatorBuffers, OfAnExchangeOfEightH100AreNearWhatSomebodySaw) {
  // NVIDIA/nccl issue 1685: 1.06 GB before the first all_to_all_single, 4.34 behind it, 32 channels to each peer.
  const Scenario s = nodes_of_eight(8);
  const double seen = (4.34e9 - 1.06e9) / static_cast<double>(kMiB);
  const std::int64_t counted = mebibytes(s, {.ranks = 8, .in_node = 8, .collectives = false, .peers = 7});
  EXPECT_NEAR(static_cast<double>(counted), seen, 0.15 * seen);
}

TEST(CommunicatorBuffers, AreNoneOfOneRankOrWhereNobodySaysTheirSize) {
  Scenario s = nodes_of_eight(8);
  EXPECT_EQ(mebibytes(s, {.ranks = 1, .in_node = 1, .sums = true}), 0);
  s.software.transport.buffer = {};
  EXPECT_EQ(mebibytes(s, {.ranks = 8, .in_node = 8, .sums = true}), 0);
  EXPECT_EQ(CommunicatorBuffers(s, 0).of_stage(0), Bytes{});
}

TEST(CommunicatorBuffers, HaveTreesOnceTheirRanksAllReduceOrBeforeThatInOldReleases) {
  Scenario s = nodes_of_eight(8);
  const Communicator gathers{.ranks = 8, .in_node = 8}, sums{.ranks = 8, .in_node = 8, .sums = true};
  EXPECT_EQ(mebibytes(s, gathers), 24 * 12);
  EXPECT_EQ(mebibytes(s, sums), 2 * 24 * 12);
  s.software.transport.nccl_version = "2.21.5";
  EXPECT_EQ(mebibytes(s, gathers), mebibytes(s, sums));
}

TEST(CommunicatorBuffers, OverTheNetworkHaveTwoChannelsForEachAdapterAndBuffersAtBothEnds) {
  const Scenario s = nodes_of_eight(64);
  EXPECT_EQ(mebibytes(s, {.ranks = 8, .in_node = 1}), 2 * 20);
  EXPECT_EQ(mebibytes(s, {.ranks = 64, .in_node = 8}), 16 * (7 * 12 + 20) / 8);
  EXPECT_EQ(mebibytes(s, {.ranks = 8, .in_node = 1, .sums = true}), 2 * (20 + 40));
  EXPECT_EQ(mebibytes(s, {.ranks = 2, .in_node = 1, .sums = true}), 2 * 20);  // the tree is the ring
  // Sends: two pools of 32 channels, 16 pieces and 128 KiB.
  EXPECT_EQ(mebibytes(s, {.ranks = 8, .in_node = 1, .collectives = false, .far_peers = true}), 128);
}

TEST(CommunicatorBuffers, OfSwitchesThatAddUpAreThoseOfEveryRank) {
  Scenario s = nodes_of_eight(8);
  const Communicator sums{.ranks = 8, .in_node = 8, .sums = true};
  const std::int64_t without = mebibytes(s, sums);
  s.cluster.node.nvlink_sharp = true;
  s.cluster.node.compute_capability = 90;
  s.software.transport.nvls.share = 0.8;
  EXPECT_EQ(mebibytes(s, sums) - without, 2 * 16 * 8);  // 16 channels, buffers of 1 MiB for both ways
}

TEST(CommunicatorBuffers, OfAStageAreThoseOfItsGroups) {
  Scenario s = nodes_of_eight(64);
  s.parallelism.tensor = 8;
  s.parallelism.pipeline = 4;
  s.parallelism.data = 2;
  const CommunicatorBuffers all(s, 3);
  const Bytes world = all.of({.ranks = 64, .in_node = 8, .sums = true}),
              tensor = all.of({.ranks = 8, .in_node = 8, .sums = true}),
              data = all.of({.ranks = 2, .in_node = 1, .sums = true}),
              sends = all.of({.ranks = 4, .in_node = 1, .collectives = false, .far_peers = true}),
              embedding = all.of({.ranks = 2, .in_node = 1, .sums = true});
  EXPECT_EQ(all.of_stage(1), world + tensor + data + sends);
  EXPECT_EQ(all.of_stage(0), world + tensor + data + sends + embedding);
  EXPECT_EQ(all.of_stage(3), all.of_stage(0));
}

TEST(CommunicatorBuffers, ShrinkWithTheBuffersThatAreSaid) {
  Scenario s = nodes_of_eight(8);
  const Communicator sums{.ranks = 8, .in_node = 8, .sums = true};
  const std::int64_t usual = mebibytes(s, sums);
  s.software.transport.buffer = {2 * kMiB};
  EXPECT_LT(mebibytes(s, sums), usual);
}

}  // namespace
}  // namespace stepcast::schedules
