#include <gtest/gtest.h>

#include "tests/topology/machines.h"

namespace stepcast::topology {
namespace {

NodeSpec torus(const char* sides, std::uint32_t gpus, bool wraps = true) {
  NodeSpec node = dgx();
  node.name = "slice";
  node.builder = "torus";
  node.gpus = gpus;
  node.nics = 0;
  node.torus = sides;
  node.torus_wraps = wraps;
  node.nvlink_forwarding = true;
  return node;
}

std::size_t hops(const Cluster& cluster, std::uint32_t a, std::uint32_t b) {
  return cluster.path(GpuId{a}, GpuId{b}).links.size();
}

TEST(Torus, GoesTheShorterWayRound) {
  const Cluster cluster = build_cluster(torus("4x4", 16), rail_fabric(), 16);
  EXPECT_EQ(hops(cluster, 0, 3), 1u);
  EXPECT_EQ(hops(cluster, 0, 15), 2u);
  EXPECT_EQ(hops(cluster, 0, 10), 4u);
}

TEST(Torus, IsAMeshWithoutTheClosingLinks) {
  const Cluster cluster = build_cluster(torus("4x4", 16, false), rail_fabric(), 16);
  EXPECT_EQ(hops(cluster, 0, 3), 3u);
  EXPECT_EQ(hops(cluster, 0, 15), 6u);
}

TEST(Torus, HasThreeDimensionsAndOneLinkBetweenTwo) {
  const Cluster cluster = build_cluster(torus("2x3x4", 24), rail_fabric(), 24);
  EXPECT_EQ(hops(cluster, 0, 1), 1u);
  EXPECT_EQ(cluster.path(GpuId{0}, GpuId{1}).bandwidth, Bandwidth{20e9});
  EXPECT_EQ(hops(cluster, 0, 1 + 2 * 1 + 6 * 2), 1u + 1 + 2);
}

TEST(Torus, SaysWhichSidesItCannotRead) {
  const auto error = [](const char* sides) {
    return error_of([&] { build_cluster(torus(sides, 16), rail_fabric(), 16); });
  };
  EXPECT_EQ(error("4"), "slice: torus: found '4', expected two or three sides such as '16x16' or '4x4x8'");
  EXPECT_EQ(error("4x0"), "slice: torus: found '4x0', expected two or three sides such as '16x16' or '4x4x8'");
  EXPECT_EQ(error("4x8"), "slice: torus: '4x8' is 32 GPUs, the node has 16");
  EXPECT_EQ(error("60000x60000"), "slice: torus: '60000x60000' is more than 10000000 places");
}

}  // namespace
}  // namespace stepcast::topology
