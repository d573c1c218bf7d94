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

/// Where a way goes, GPU by GPU.
std::vector<std::uint32_t> places(const Cluster& cluster, std::uint32_t a, std::uint32_t b) {
  std::vector<std::uint32_t> way;
  for (const LinkId id : cluster.path(GpuId{a}, GpuId{b}).links) {
    const std::string to = cluster.link(id).to;
    way.push_back(static_cast<std::uint32_t>(std::stoul(to.substr(to.rfind(' ')))));
  }
  return way;
}

TEST(Torus, ForwardsDimensionByDimensionAndUpHalfWayRound) {
  const Cluster wraps = build_cluster(torus("4x4", 16), rail_fabric(), 16);
  EXPECT_EQ(places(wraps, 0, 10), (std::vector<std::uint32_t>{1, 2, 6, 10}));
  EXPECT_EQ(places(wraps, 10, 0), (std::vector<std::uint32_t>{11, 8, 12, 0}));
  EXPECT_EQ(places(wraps, 5, 12), (std::vector<std::uint32_t>{4, 8, 12}));
  const Cluster mesh = build_cluster(torus("4x4", 16, false), rail_fabric(), 16);
  EXPECT_EQ(places(mesh, 15, 4), (std::vector<std::uint32_t>{14, 13, 12, 8, 4}));
}

TEST(Torus, WaysAreThoseOfTheFirstGpuMovedAlong) {
  constexpr std::uint32_t kWide = 6, kHigh = 5;
  const Cluster cluster = build_cluster(torus("6x5", 30), rail_fabric(), 30);
  const auto moved = [](std::uint32_t place, std::uint32_t by) {
    return (place / kWide + by / kWide) % kHigh * kWide + (place % kWide + by % kWide) % kWide;
  };
  for (std::uint32_t by = 0; by < 30; ++by) {
    for (std::uint32_t to = 1; to < 30; ++to) {
      std::vector<std::uint32_t> expected = places(cluster, 0, to);
      for (std::uint32_t& place : expected) place = moved(place, by);
      EXPECT_EQ(places(cluster, by, moved(to, by)), expected) << by << ' ' << to;
    }
  }
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
