#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/topology/machines.h"

namespace stepcast::topology {
namespace {

using testing::ElementsAre;

TEST(NvSwitch, GivesEveryPairAllOfAGpusLinks) {
  const Cluster cluster = build_cluster(dgx(), rail_fabric(), 8);
  for (std::uint32_t a = 0; a < 8; ++a) {
    for (std::uint32_t b = 0; b < 8; ++b) {
      if (a == b) continue;
      const Path path = cluster.path(GpuId{a}, GpuId{b});
      EXPECT_EQ(path.kind, PathKind::nvlink);
      EXPECT_EQ(path.bandwidth, Bandwidth{12 * 20e9});
      EXPECT_EQ(path.latency, nanoseconds(600));
      EXPECT_EQ(path.links.size(), 2u);
    }
  }
}

TEST(NvSwitch, LetsDisjointPairsShareNothing) {
  const Cluster cluster = build_cluster(dgx(), rail_fabric(), 8);
  EXPECT_THAT(stations(cluster, cluster.path(GpuId{2}, GpuId{7})),
              ElementsAre("node 0 / gpu 2", "node 0 / nvswitch", "node 0 / gpu 7"));
  const Path one = cluster.path(GpuId{2}, GpuId{7}), other = cluster.path(GpuId{7}, GpuId{2});
  EXPECT_NE(one.links[0], other.links[0]);
  EXPECT_NE(one.links[0], other.links[1]);
  EXPECT_NE(one.links[1], other.links[0]);
}

TEST(NvSwitch, SendsToOtherNodesOverTheNicOnTheGpusOwnSwitch) {
  const Cluster cluster = build_cluster(dgx(), big_switch(), 16);
  EXPECT_THAT(stations(cluster, cluster.path(GpuId{5}, GpuId{8})),
              ElementsAre("node 0 / gpu 5", "node 0 / pcie switch 2", "node 0 / nic 5", "switch", "node 1 / nic 0",
                          "node 1 / pcie switch 0", "node 1 / gpu 0"));
}

TEST(NvSwitch, SharesNicsEvenlyWhereThereAreFewer) {
  NodeSpec node = dgx();
  node.nics = 4;
  const Cluster four = build_cluster(node, big_switch(), 16);
  for (std::uint32_t gpu = 0; gpu < 8; ++gpu) {
    EXPECT_EQ(stations(four, four.path(GpuId{gpu}, GpuId{8}))[2], "node 0 / nic " + std::to_string(gpu / 2));
  }
  node.nics = 1;
  const Cluster one = build_cluster(node, big_switch(), 16);
  EXPECT_THAT(stations(one, one.path(GpuId{7}, GpuId{8})),
              ElementsAre("node 0 / gpu 7", "node 0 / pcie switch 3", "node 0 / cpu 1", "node 0 / cpu 0",
                          "node 0 / pcie switch 0", "node 0 / nic 0", "switch", "node 1 / nic 0",
                          "node 1 / pcie switch 0", "node 1 / gpu 0"));
}

TEST(NvSwitch, SaysWhatIsMissing) {
  NodeSpec node = dgx();
  node.nvlink.reset();
  EXPECT_EQ(error_of([&] { build_cluster(node, rail_fabric(), 8); }),
            "dgx: builder 'nvswitch' needs 'nvlink', a file of configs/links/");
  node = dgx();
  node.socket_link.reset();
  EXPECT_EQ(error_of([&] { build_cluster(node, rail_fabric(), 8); }),
            "dgx: builder 'nvswitch' needs 'socket_link', a file of configs/links/");
  node = dgx();
  node.nvlinks_per_gpu = 0;
  EXPECT_EQ(error_of([&] { build_cluster(node, rail_fabric(), 8); }),
            "dgx: nvlinks_per_gpu: builder 'nvswitch' needs at least 1");
  node = dgx();
  node.gpus = 0;
  EXPECT_EQ(error_of([&] { build_cluster(node, rail_fabric(), 8); }), "dgx: gpus: a node has at least 1");
  node = dgx();
  node.sockets = 0;
  EXPECT_EQ(error_of([&] { build_cluster(node, rail_fabric(), 8); }), "dgx: sockets: a node has at least 1");
}

}  // namespace
}  // namespace stepcast::topology
