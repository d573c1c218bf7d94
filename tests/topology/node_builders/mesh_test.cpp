#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "tests/topology/machines.h"

namespace stepcast::topology {
namespace {

using testing::ElementsAre;

/// The hybrid cube-mesh of a DGX-1 with V100: a NIC on each of four switches.
NodeSpec cube_mesh() {
  NodeSpec node = dgx();
  node.name = "cube";
  node.builder = "mesh";
  node.nics = 4;
  node.nvlink_pairs =
      "0-1, 0-2, 0-3 x2, 0-4 x2, 1-2 x2, 1-3, 1-5 x2, 2-3 x2, 2-6, 3-7, 4-5, 4-6, 4-7 x2, 5-6 x2, 5-7, 6-7 x2";
  return node;
}

TEST(Mesh, GivesEachGpuOfAHybridCubeMeshSixLinks) {
  const Cluster cluster = build_cluster(cube_mesh(), rail_fabric(), 8);
  std::array<double, 8> out{};
  for (std::uint32_t a = 0; a < 8; ++a) {
    std::uint32_t peers = 0;
    for (std::uint32_t b = 0; b < 8; ++b) {
      const Path path = cluster.path(GpuId{a}, GpuId{b});
      if (path.kind != PathKind::nvlink) continue;
      EXPECT_EQ(path.links.size(), 1u);
      out[a] += path.bandwidth.value;
      ++peers;
    }
    EXPECT_EQ(peers, 4u);
    EXPECT_EQ(out[a], 6 * 20e9);
  }
}

TEST(Mesh, SendsOverTheHostWhereNoNvlinkLeads) {
  const Cluster cluster = build_cluster(cube_mesh(), rail_fabric(), 8);
  EXPECT_THAT(stations(cluster, cluster.path(GpuId{0}, GpuId{7})),
              ElementsAre("node 0 / gpu 0", "node 0 / pcie switch 0", "node 0 / cpu 0", "node 0 / cpu 1",
                          "node 0 / pcie switch 3", "node 0 / gpu 7"));
}

TEST(Mesh, PassesOnWhereGpusForward) {
  NodeSpec node = cube_mesh();
  node.nvlink_forwarding = true;
  const Cluster cluster = build_cluster(node, rail_fabric(), 8);
  const Path path = cluster.path(GpuId{0}, GpuId{7});
  EXPECT_EQ(path.kind, PathKind::nvlink);
  EXPECT_EQ(path.bandwidth, Bandwidth{40e9});  // by GPU 4: two links and two links
}

TEST(Mesh, JoinsAllPairsAlike) {
  NodeSpec node = pcie_box();
  node.builder = "mesh";
  node.nvlink = test_nvlink();
  node.nvlink_pairs = "all x4";
  const Cluster cluster = build_cluster(node, rail_fabric(), 4);
  for (std::uint32_t a = 0; a < 4; ++a) {
    for (std::uint32_t b = 0; b < 4; ++b) {
      if (a != b) {
        EXPECT_EQ(cluster.path(GpuId{a}, GpuId{b}).bandwidth, Bandwidth{80e9});
      }
    }
  }
}

TEST(Mesh, SaysWhichPairItCannotRead) {
  const auto error = [](const char* pairs) {
    NodeSpec node = cube_mesh();
    node.nvlink_pairs = pairs;
    return error_of([&] { build_cluster(node, rail_fabric(), 8); });
  };
  const std::string expected = ", expected pairs such as '0-1, 0-3 x2' or 'all x4'";
  EXPECT_EQ(error(""), "cube: nvlink_pairs: found ''" + expected);
  EXPECT_EQ(error("0-1, 2"), "cube: nvlink_pairs: found '2'" + expected);
  EXPECT_EQ(error("0-1 x0"), "cube: nvlink_pairs: found '0-1 x0'" + expected);
  EXPECT_EQ(error("0-8"), "cube: nvlink_pairs: found '0-8' of GPUs 0 to 7" + expected);
  EXPECT_EQ(error("3-3"), "cube: nvlink_pairs: found '3-3'" + expected);
  EXPECT_EQ(error("0-1, 1-0"), "cube: nvlink_pairs: found '1-0' twice" + expected);
}

}  // namespace
}  // namespace stepcast::topology
