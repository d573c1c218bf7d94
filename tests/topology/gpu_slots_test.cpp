#include "topology/gpu_slots.h"

#include <gtest/gtest.h>

#include "topology/cluster.h"

namespace stepcast::topology {
namespace {

NodeSpec node_of_8() {
  NodeSpec node;
  node.name = "node";
  node.nics = 8;
  node.nvlinks_per_gpu = 1;
  node.nvlink = LinkType{.name = "nvlink", .kind = LinkKind::nvlink, .bandwidth = {100e9}, .source = {}};
  node.pcie = LinkType{.name = "pcie", .kind = LinkKind::pcie, .bandwidth = {50e9}, .source = {}};
  node.socket_link = LinkType{.name = "socket", .kind = LinkKind::socket, .bandwidth = {50e9}, .source = {}};
  node.nic = LinkType{.name = "nic", .kind = LinkKind::network, .bandwidth = {25e9}, .source = {}};
  return node;
}

void expect_as_in_cluster(std::uint32_t gpus, const std::optional<Allocation>& allocation) {
  const GpuSlots slots = gpu_slots(node_of_8(), gpus, allocation);
  const Cluster cluster = build_cluster(node_of_8(), {}, gpus, allocation);
  EXPECT_EQ(slots.gpus(), cluster.gpus());
  EXPECT_EQ(slots.period(), cluster.gpus_per_node());
  EXPECT_EQ(slots.used_nodes(), cluster.nodes());
  for (std::uint32_t g = 0; g < cluster.gpus(); ++g) {
    const GpuSlots::Slot slot = slots.slot(GpuId{g});
    EXPECT_EQ(slot.used_node, cluster.node_of(GpuId{g}));
    EXPECT_EQ("node " + std::to_string(slot.node) + " / gpu " + std::to_string(slot.gpu), cluster.name(GpuId{g}));
    EXPECT_TRUE(slots.used(slot.node, slot.gpu));
  }
}

TEST(GpuSlots, AreThoseOfTheClusterOfTheSame) {
  for (const std::uint32_t gpus : {1u, 3u, 8u, 16u, 64u}) expect_as_in_cluster(gpus, {});
  for (const char* const text : {"0-2,5", "node0:0-3,node2:4-7", "node3,node1", "node1:0-3,6,node4"}) {
    const Allocation allocation = resolve(parse_allocation(text), 8, "");
    expect_as_in_cluster(count(allocation), allocation);
  }
}

TEST(GpuSlots, OfAnAllocationNoOthersAreUsed) {
  const GpuSlots slots = gpu_slots(node_of_8(), 4, parse_allocation("node1:2-5"));
  EXPECT_FALSE(slots.used(0, 2));
  EXPECT_FALSE(slots.used(1, 1));
  EXPECT_TRUE(slots.used(1, 2));
  EXPECT_EQ(slots.nodes(), 2u);
  EXPECT_EQ(slots.used_nodes(), 1u);
  EXPECT_TRUE(slots.listed());
}

}  // namespace
}  // namespace stepcast::topology
