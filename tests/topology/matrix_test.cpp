#include "topology/matrix.h"

#include <gtest/gtest.h>

#include "tests/topology/machines.h"
#include "topology/exports/dot.h"

namespace stepcast::topology {
namespace {

std::string kind(const Cluster& cluster, std::uint32_t a, std::uint32_t b) {
  return pairs(cluster, cluster.gpus())[a * cluster.gpus() + b].kind;
}

TEST(Matrix, NamesPathsAsNvidiaSmiDoes) {
  const Cluster dgx8 = build_cluster(dgx(), rail_fabric(), 8);
  EXPECT_EQ(kind(dgx8, 0, 0), "X");
  EXPECT_EQ(kind(dgx8, 0, 7), "NV12");
  NodeSpec box = pcie_box();
  box.gpus = 8;
  box.gpus_per_pcie_switch = 2;
  const Cluster cluster = build_cluster(box, rail_fabric(), 8);
  EXPECT_EQ(kind(cluster, 0, 1), "PIX");
  EXPECT_EQ(kind(cluster, 0, 2), "NODE");
  EXPECT_EQ(kind(cluster, 0, 7), "SYS");
  box.gpus_per_pcie_switch = 0;
  EXPECT_EQ(kind(build_cluster(box, rail_fabric(), 8), 0, 1), "PHB");
  EXPECT_EQ(kind(build_cluster(dgx(), rail_fabric(), 16), 0, 8), "NET");
}

TEST(Matrix, NamesTheWiresEvenWhereCopiesBounce) {
  EXPECT_EQ(kind(build_cluster(pcie_box(false), rail_fabric(), 4), 0, 1), "PIX");
}

TEST(Bisection, OfAnNvswitchIsHalfOfAllItsLinks) {
  EXPECT_EQ(bisection(build_cluster(dgx(), rail_fabric(), 8)), Bandwidth{4 * 240e9});
}

TEST(Bisection, OfATreeIsItsNarrowestHalving) {
  // Two switches of two GPUs: 16 GB/s between the sockets.
  EXPECT_EQ(bisection(build_cluster(pcie_box(), rail_fabric(), 4)), Bandwidth{16e9});
}

TEST(Bisection, OfNodesIsWhatTheirNicsCarry) {
  EXPECT_EQ(bisection(build_cluster(dgx(), big_switch(), 16)), Bandwidth{8 * 23e9});
  // Two to one above leaves of six nodes: 12 nodes on two leaves a rail, three up-links each.
  const Cluster thin = build_cluster(dgx(), rail_fabric(9, "adaptive", 2), 8 * 12);
  EXPECT_EQ(bisection(thin), Bandwidth{8 * 3 * 23e9});
}

TEST(Dot, DrawsEveryDeviceAndEveryLinkOnce) {
  const std::string text = to_dot(build_cluster(pcie_box(), rail_fabric(), 4));
  std::size_t lines = 0, boxes = 0;
  for (std::size_t at = 0; (at = text.find(" -- ", at)) != std::string::npos; ++at) ++lines;
  for (std::size_t at = 0; (at = text.find(" / gpu ", at)) != std::string::npos; ++at) ++boxes;
  EXPECT_EQ(boxes, 4u);
  EXPECT_EQ(lines, 1u + 2 + 4);  // sockets, switches, GPUs
}

}  // namespace
}  // namespace stepcast::topology
