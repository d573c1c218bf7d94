#include "topology/expand.h"

#include <gtest/gtest.h>

#include "tests/topology/machines.h"

namespace stepcast::topology {
namespace {

TEST(Expand, HasTheCountsOfTheClosedForms) {
  // A DGX: 8 GPUs, 2 sockets, 4 PCIe switches, 8 NICs, NVSwitch. Links each way: one between the sockets, 4 up-links,
  // 8 GPUs and 8 NICs on PCIe, 8 GPUs on NVSwitch.
  const Expanded one = expand(build_cluster(dgx(), rail_fabric(), 8));
  EXPECT_EQ(one.devices.size(), 8u + 2 + 4 + 8 + 1);
  EXPECT_EQ(one.links.size(), 2u * (1 + 4 + 8 + 8 + 8));

  // 40 of them, radix 40: 2 leaves a rail, 20 up-links each, 16 leaves on 8 spines rounded up to a divisor of 20: 10.
  const Expanded tree = expand(build_cluster(dgx(), rail_fabric(40, "hash"), 8 * 40));
  EXPECT_EQ(tree.devices.size(), 40u * 23 + 16 + 10);
  EXPECT_EQ(tree.links.size(), 40u * (58 + 16) + 2 * 16 * 20);

  // Adaptive: the spines of the pod are one, and so are each leaf's up-links.
  const Expanded trunks = expand(build_cluster(dgx(), rail_fabric(40), 8 * 40));
  EXPECT_EQ(trunks.devices.size(), 40u * 23 + 16 + 1);
  EXPECT_EQ(trunks.links.size(), 40u * (58 + 16) + 2 * 16);
}

TEST(Expand, SaysWhatTheClusterSays) {
  const Cluster cluster = build_cluster(dgx(), rail_fabric(16, "hash"), 8 * 20);
  const Expanded all = expand(cluster);
  ASSERT_EQ(all.links.size(), cluster.links());
  for (std::uint32_t i = 0; i < cluster.links(); ++i) {
    const Link link = cluster.link(LinkId{i});
    EXPECT_EQ(link.from, all.devices[all.links[i].from].name);
    EXPECT_EQ(link.to, all.devices[all.links[i].to].name);
    EXPECT_EQ(link.bandwidth, all.links[i].bandwidth);
    EXPECT_EQ(cluster.link_bandwidth(LinkId{i}), all.links[i].bandwidth);
    EXPECT_EQ(link.latency, all.links[i].latency);
    EXPECT_EQ(link.kind, all.links[i].kind);
  }
}

TEST(Expand, HasEveryLinkInBothDirections) {
  const Expanded all = expand(build_cluster(dgx(), rail_fabric(16, "hash"), 8 * 20));
  for (std::size_t i = 0; i < all.links.size(); i += 2) {
    EXPECT_EQ(all.links[i].from, all.links[i + 1].to);
    EXPECT_EQ(all.links[i].to, all.links[i + 1].from);
    EXPECT_EQ(all.links[i].bandwidth, all.links[i + 1].bandwidth);
  }
}

}  // namespace
}  // namespace stepcast::topology
