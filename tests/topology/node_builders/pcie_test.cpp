#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/topology/machines.h"

namespace stepcast::topology {
namespace {

using testing::ElementsAre;

std::size_t shared_links(const Path& a, const Path& b) {
  return static_cast<std::size_t>(std::count_if(a.links.begin(), a.links.end(), [&](LinkId id) {
    return std::find(b.links.begin(), b.links.end(), id) != b.links.end();
  }));
}

TEST(Pcie, KeepsNeighboursOnTheirSwitch) {
  const Cluster cluster = build_cluster(pcie_box(), rail_fabric(), 4);
  const Path path = cluster.path(GpuId{0}, GpuId{1});
  EXPECT_EQ(path.kind, PathKind::pcie);
  EXPECT_EQ(path.bandwidth, Bandwidth{24e9});
  EXPECT_THAT(stations(cluster, path), ElementsAre("node 0 / gpu 0", "node 0 / pcie switch 0", "node 0 / gpu 1"));
}

TEST(Pcie, MakesGpusOfOneSwitchShareItsUplink) {
  const Cluster cluster = build_cluster(pcie_box(), rail_fabric(), 4);
  const Path first = cluster.path(GpuId{0}, GpuId{2}), second = cluster.path(GpuId{1}, GpuId{3});
  EXPECT_EQ(first.kind, PathKind::host);
  EXPECT_EQ(first.bandwidth, Bandwidth{16e9});
  EXPECT_THAT(stations(cluster, first), ElementsAre("node 0 / gpu 0", "node 0 / pcie switch 0", "node 0 / cpu 0",
                                                    "node 0 / cpu 1", "node 0 / pcie switch 1", "node 0 / gpu 2"));
  EXPECT_EQ(shared_links(first, second), 3u);  // up, across the sockets, down
  EXPECT_EQ(shared_links(first, cluster.path(GpuId{3}, GpuId{1})), 0u);
}

TEST(Pcie, BouncesThroughTheHostWithoutP2p) {
  const Cluster cluster = build_cluster(pcie_box(false), rail_fabric(), 4);
  const Path path = cluster.path(GpuId{2}, GpuId{3});
  EXPECT_EQ(path.kind, PathKind::host);
  EXPECT_THAT(stations(cluster, path), ElementsAre("node 0 / gpu 2", "node 0 / pcie switch 1", "node 0 / cpu 1",
                                                   "node 0 / pcie switch 1", "node 0 / gpu 3"));
  EXPECT_THAT(path.loads, ElementsAre(1, 1, 1, 1));
  EXPECT_EQ(path.latency, nanoseconds(600));
  EXPECT_EQ(shared_links(path, cluster.path(GpuId{3}, GpuId{2})), 2u);  // the host link carries both, up and down
}

TEST(Pcie, BouncesToTheNicToo) {
  const Cluster cluster = build_cluster(pcie_box(false, 4), big_switch(), 8);
  EXPECT_THAT(stations(cluster, cluster.path(GpuId{0}, GpuId{4})),
              ElementsAre("node 0 / gpu 0", "node 0 / pcie switch 0", "node 0 / cpu 0", "node 0 / pcie switch 0",
                          "node 0 / nic 0", "switch", "node 1 / nic 0", "node 1 / pcie switch 0", "node 1 / cpu 0",
                          "node 1 / pcie switch 0", "node 1 / gpu 0"));
}

TEST(Pcie, JoinsNeighboursWithBridges) {
  NodeSpec node = pcie_box();
  node.nvlinks_per_gpu = 12;
  node.nvlink = test_nvlink();
  const Cluster cluster = build_cluster(node, rail_fabric(), 4);
  EXPECT_EQ(cluster.path(GpuId{2}, GpuId{3}).kind, PathKind::nvlink);
  EXPECT_EQ(cluster.path(GpuId{2}, GpuId{3}).bandwidth, Bandwidth{240e9});
  EXPECT_EQ(cluster.path(GpuId{1}, GpuId{2}).kind, PathKind::host);
}

TEST(Pcie, HangsGpusOffTheSocketsWhereThereAreNoSwitches) {
  NodeSpec node = pcie_box();
  node.gpus_per_pcie_switch = 0;
  const Cluster cluster = build_cluster(node, rail_fabric(), 4);
  EXPECT_THAT(stations(cluster, cluster.path(GpuId{0}, GpuId{1})),
              ElementsAre("node 0 / gpu 0", "node 0 / cpu 0", "node 0 / gpu 1"));
  EXPECT_THAT(stations(cluster, cluster.path(GpuId{1}, GpuId{2})),
              ElementsAre("node 0 / gpu 1", "node 0 / cpu 0", "node 0 / cpu 1", "node 0 / gpu 2"));
  EXPECT_EQ(cluster.path(GpuId{0}, GpuId{1}).kind, PathKind::host);
}

}  // namespace
}  // namespace stepcast::topology
