#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/topology/machines.h"

namespace stepcast::topology {
namespace {

using testing::ElementsAre;

std::string error_with(const NodeSpec& node) {
  return error_of([&] { build_cluster(node, rail_fabric(), 1); });
}

TEST(OwnGraph, PrefersNvlinkOverPcieEvenThroughAnotherGpu) {
  const Cluster cluster = build_cluster(hand_written(), rail_fabric(), 3);
  const Path path = cluster.path(GpuId{0}, GpuId{2});
  EXPECT_EQ(path.kind, PathKind::nvlink);
  EXPECT_EQ(path.bandwidth, Bandwidth{20e9});
  EXPECT_THAT(stations(cluster, path), ElementsAre("node 0 / left", "node 0 / middle", "node 0 / right"));
  EXPECT_EQ(cluster.path(GpuId{1}, GpuId{2}).bandwidth, Bandwidth{40e9});
}

TEST(OwnGraph, TakesTheWiderOfTwoEquallyLongWays) {
  NodeSpec node = hand_written();
  node.gpus = 4;
  node.devices.push_back({"second middle", "gpu"});
  node.links.push_back({"left", "second middle", test_nvlink(), 2});
  node.links.push_back({"second middle", "right", test_nvlink(), 2});
  const Cluster cluster = build_cluster(node, rail_fabric(), 4);
  EXPECT_EQ(cluster.path(GpuId{0}, GpuId{2}).bandwidth, Bandwidth{40e9});
}

TEST(OwnGraph, NeverSendsHostTrafficThroughAGpu) {
  NodeSpec node = hand_written();
  node.links.erase(node.links.begin() + 2);  // left to host
  node.links.push_back({"left", "middle", test_pcie(), 1});
  const Cluster cluster = build_cluster(node, big_switch(), 6);
  EXPECT_EQ(error_of([&] { cluster.path(GpuId{0}, GpuId{4}); }), "no path from node 0 / left to node 1 / middle");
}

TEST(OwnGraph, SaysWhatIsWrong) {
  NodeSpec node = hand_written();
  node.devices[1].kind = "cpus";
  EXPECT_EQ(error_with(node),
            "own: device 'host': kind 'cpus' is unknown; did you mean 'cpu'? Allowed: gpu, cpu, pcie-switch, nvswitch, "
            "nic");
  node = hand_written();
  node.links[0].to = "midle";
  EXPECT_EQ(error_with(node),
            "own: link end 'midle' is unknown; did you mean 'middle'? Allowed: left, host, middle, right, port");
  node = hand_written();
  node.devices.push_back({"left", "gpu"});
  EXPECT_EQ(error_with(node), "own: device 'left' is listed twice");
  node = hand_written();
  node.gpus = 8;
  EXPECT_EQ(error_with(node), "own: gpus: 8, but 3 devices of kind 'gpu' are listed");
  node = hand_written();
  node.links[1].count = 0;
  EXPECT_EQ(error_with(node), "own: link 'middle' to 'right': count must be 1 or more");
  node = hand_written();
  node.links[1].to = "middle";
  EXPECT_EQ(error_with(node), "own: link 'middle' to itself");
}

}  // namespace
}  // namespace stepcast::topology
