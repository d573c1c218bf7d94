#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "tests/topology/machines.h"
#include "topology/expand.h"

namespace stepcast::topology {
namespace {

using testing::ElementsAre;

GpuId gpu(std::uint32_t node, std::uint32_t local) { return GpuId{node * 8 + local}; }

std::size_t switches_on(const Cluster& cluster, const Path& path) {
  const std::vector<std::string> names = stations(cluster, path);
  return static_cast<std::size_t>(
      std::count_if(names.begin(), names.end(), [](const std::string& n) { return n.rfind("node", 0) != 0; }));
}

double sum_of_bandwidth(const Expanded& all, DeviceKind from, DeviceKind to) {
  double sum = 0;
  for (const ExpandedLink& link : all.links) {
    if (all.devices[link.from].kind == from && all.devices[link.to].kind == to) sum += link.bandwidth.value;
  }
  return sum;
}

std::size_t count_devices(const Expanded& all, DeviceKind kind) {
  return static_cast<std::size_t>(
      std::count_if(all.devices.begin(), all.devices.end(), [&](const Device& d) { return d.kind == kind; }));
}

TEST(RailFatTree, KeepsARailOnItsLeaf) {
  const Cluster cluster = build_cluster(dgx(), rail_fabric(), 16);
  const Path path = cluster.path(gpu(0, 5), gpu(1, 5));
  EXPECT_THAT(stations(cluster, path),
              ElementsAre("node 0 / gpu 5", "node 0 / pcie switch 2", "node 0 / nic 5", "rail 5 / leaf 0",
                          "node 1 / nic 5", "node 1 / pcie switch 2", "node 1 / gpu 5"));
  EXPECT_EQ(path.kind, PathKind::network);
  EXPECT_EQ(path.bandwidth, Bandwidth{23e9});
  EXPECT_EQ(path.latency, nanoseconds(4 * 150 + 2 * 400 + 2 * 50 + 130));
}

TEST(RailFatTree, ChangesRailOverNvlinkBeforeItLeavesTheNode) {
  const Cluster cluster = build_cluster(dgx(), rail_fabric(), 16);
  EXPECT_THAT(
      stations(cluster, cluster.path(gpu(0, 0), gpu(1, 3))),
      ElementsAre("node 0 / gpu 0", "node 0 / nvswitch", "node 0 / gpu 3", "node 0 / pcie switch 1", "node 0 / nic 3",
                  "rail 3 / leaf 0", "node 1 / nic 3", "node 1 / pcie switch 1", "node 1 / gpu 3"));
}

TEST(RailFatTree, ChangesRailOverTheSpinesWithoutNvlink) {
  const Cluster cluster = build_cluster(pcie_box(true, 4), rail_fabric(), 8);
  EXPECT_THAT(
      stations(cluster, cluster.path(GpuId{0}, GpuId{7})),
      ElementsAre("node 0 / gpu 0", "node 0 / pcie switch 0", "node 0 / nic 0", "rail 0 / leaf 0", "pod 0 / spine 0",
                  "rail 3 / leaf 0", "node 1 / nic 3", "node 1 / pcie switch 1", "node 1 / gpu 3"));
}

TEST(RailFatTree, DoesNotChangeRailWhereTwoGpusShareTheNic) {
  NodeSpec node = dgx();
  node.nics = 4;
  const Cluster cluster = build_cluster(node, rail_fabric(), 16);
  EXPECT_EQ(stations(cluster, cluster.path(gpu(0, 0), gpu(1, 1)))[2], "node 0 / nic 0");
}

TEST(RailFatTree, ClimbsNoHigherThanItMust) {
  // Radix 16: 8 nodes a leaf; 8 rails fill a pod's 8 places, so each pod is 8 nodes; more than 16 nodes need cores.
  const Cluster one = build_cluster(dgx(), rail_fabric(16), 64), two = build_cluster(dgx(), rail_fabric(16), 128),
                three = build_cluster(dgx(), rail_fabric(16), 256);
  EXPECT_EQ(switches_on(one, one.path(gpu(0, 0), gpu(7, 0))), 1u);
  EXPECT_EQ(switches_on(two, two.path(gpu(0, 0), gpu(7, 0))), 1u);
  EXPECT_EQ(switches_on(two, two.path(gpu(0, 0), gpu(8, 0))), 3u);
  EXPECT_EQ(switches_on(three, three.path(gpu(0, 0), gpu(8, 0))), 5u);
  EXPECT_EQ(three.path(gpu(0, 0), gpu(8, 0)).latency,
            three.path(gpu(0, 0), gpu(7, 0)).latency + 4 * nanoseconds(50 + 130));
  EXPECT_THAT(stations(three, three.path(gpu(0, 2), gpu(31, 2))),
              ElementsAre("node 0 / gpu 2", "node 0 / pcie switch 1", "node 0 / nic 2", "rail 2 / leaf 0",
                          "pod 0 / spine 0", "core 0", "pod 3 / spine 0", "rail 2 / leaf 3", "node 31 / nic 2",
                          "node 31 / pcie switch 1", "node 31 / gpu 2"));
}

TEST(RailFatTree, SharesOneSpineLayerBetweenLeavesOfOnePod) {
  NodeSpec node = dgx();
  node.nics = 2;
  // Radix 8: 4 nodes a leaf, 2 rails, so a pod holds 2 leaves of each rail and 8 nodes.
  const Cluster cluster = build_cluster(node, rail_fabric(8), 8 * 40);
  EXPECT_EQ(switches_on(cluster, cluster.path(gpu(0, 0), gpu(3, 0))), 1u);
  EXPECT_EQ(switches_on(cluster, cluster.path(gpu(0, 0), gpu(4, 0))), 3u);
  EXPECT_EQ(switches_on(cluster, cluster.path(gpu(0, 0), gpu(8, 0))), 5u);
}

TEST(RailFatTree, GivesEachRailItsOwnTreeWhereOneIsTooSmall) {
  // Radix 8 and 4 rails: one tree joins 8 pods of one leaf group of 4 nodes.
  const Cluster together = build_cluster(pcie_box(true, 4), rail_fabric(8), 4 * 32);
  const Cluster apart = build_cluster(pcie_box(true, 4), rail_fabric(8), 4 * 33);
  EXPECT_EQ(together.path(GpuId{0}, GpuId{5}).kind, PathKind::network);
  EXPECT_EQ(apart.path(GpuId{1}, GpuId{4 * 32 + 1}).kind, PathKind::network);
  EXPECT_THAT(stations(apart, apart.path(GpuId{1}, GpuId{4 * 32 + 1})),
              testing::IsSupersetOf({"plane 1 / pod 0 / spine 0", "plane 1 / core 0", "plane 1 / pod 2 / spine 0"}));
  // Trees that never meet, and no NVLink to a relay: the sender crosses its host to the NIC of the receiver's rail.
  EXPECT_THAT(stations(apart, apart.path(GpuId{0}, GpuId{5})),
              ElementsAre("node 0 / gpu 0", "node 0 / pcie switch 0", "node 0 / nic 1", "rail 1 / leaf 0",
                          "node 1 / nic 1", "node 1 / pcie switch 0", "node 1 / gpu 1"));
}

TEST(RailFatTree, SaysWhenTheRadixIsTooSmall) {
  EXPECT_EQ(error_of([] { build_cluster(dgx(), rail_fabric(8), 8 * 129); }),
            "rails: radix 8 is too small for 129 nodes: three levels of such switches join at most 128");
}

TEST(RailFatTree, HalvesTheTrunkPerNodeAtTwoToOne) {
  // 30 ports: 15 up and 15 down; or 10 up and 20 down.
  const auto trunk_per_node = [](double oversubscription, std::uint32_t nodes_per_leaf) {
    const Cluster cluster = build_cluster(dgx(), rail_fabric(30, "adaptive", oversubscription), 8 * 40);
    const Path path = cluster.path(gpu(0, 0), gpu(39, 0));
    const Link trunk = cluster.link(path.links[3]);
    EXPECT_EQ(trunk.from, "rail 0 / leaf 0");
    return trunk.bandwidth.value / nodes_per_leaf;
  };
  EXPECT_DOUBLE_EQ(trunk_per_node(1, 15), 23e9);
  EXPECT_DOUBLE_EQ(trunk_per_node(2, 20), 23e9 / 2);
}

TEST(RailFatTree, HasFullBisectionWithoutOversubscription) {
  for (const char* routing : {"adaptive", "hash"}) {
    for (const std::uint32_t nodes : {16u, 32u}) {  // two levels, three levels; all leaves full
      const Expanded all = expand(build_cluster(dgx(), rail_fabric(16, routing), 8 * nodes));
      const double injected = sum_of_bandwidth(all, DeviceKind::nic, DeviceKind::leaf);
      EXPECT_DOUBLE_EQ(injected, nodes * 8 * 23e9);
      EXPECT_DOUBLE_EQ(sum_of_bandwidth(all, DeviceKind::leaf, DeviceKind::spine), injected);
      EXPECT_DOUBLE_EQ(sum_of_bandwidth(all, DeviceKind::spine, DeviceKind::leaf), injected);
      const double through_cores = sum_of_bandwidth(all, DeviceKind::spine, DeviceKind::core);
      EXPECT_DOUBLE_EQ(through_cores, nodes > 16 ? injected : 0);
      EXPECT_DOUBLE_EQ(sum_of_bandwidth(all, DeviceKind::core, DeviceKind::spine), through_cores);
    }
  }
}

TEST(RailFatTree, HasTheSameBandwidthHoweverItRoutes) {
  for (const double oversubscription : {1.0, 1.5, 3.0}) {
    const Expanded wide = expand(build_cluster(dgx(), rail_fabric(20, "adaptive", oversubscription), 8 * 60));
    const Expanded single = expand(build_cluster(dgx(), rail_fabric(20, "hash", oversubscription), 8 * 60));
    for (const auto& [from, to] :
         {std::pair{DeviceKind::leaf, DeviceKind::spine}, std::pair{DeviceKind::spine, DeviceKind::core}}) {
      EXPECT_DOUBLE_EQ(sum_of_bandwidth(wide, from, to), sum_of_bandwidth(single, from, to));
    }
  }
}

TEST(RailFatTree, NeverUsesMorePortsThanASwitchHas) {
  NodeSpec node = pcie_box(true, 1);
  node.gpus = 1;
  node.gpus_per_pcie_switch = 0;
  for (const std::uint32_t radix : {2u, 4u, 7u, 12u, 16u, 20u, 40u}) {
    for (const double oversubscription : {1.0, 1.5, 2.0, 3.0}) {
      if (radix / (1 + oversubscription) < 1) continue;
      for (const std::uint32_t rails : {1u, 2u, 3u, 4u, 8u}) {
        for (const std::uint32_t nodes : {2u, 3u, 8u, 17u, 40u, 100u, 250u}) {
          node.nics = rails;
          const auto fabric = rail_fabric(radix, "hash", oversubscription);
          SCOPED_TRACE(testing::Message() << "radix " << radix << ", " << oversubscription << " to 1, " << rails
                                          << " rails, " << nodes << " nodes");
          std::optional<Cluster> cluster;
          try {
            cluster = build_cluster(node, fabric, nodes);
          } catch (const InputError& error) {
            EXPECT_THAT(error.what(), testing::HasSubstr("is too small for"));
            continue;
          }
          const Expanded all = expand(*cluster);
          std::map<std::uint32_t, std::uint32_t> out, in;
          for (const ExpandedLink& link : all.links) {
            ++out[link.from];
            ++in[link.to];
          }
          for (std::uint32_t d = 0; d < all.devices.size(); ++d) {
            const DeviceKind kind = all.devices[d].kind;
            if (kind != DeviceKind::leaf && kind != DeviceKind::spine && kind != DeviceKind::core) continue;
            EXPECT_LE(out[d], radix) << all.devices[d].name;
            EXPECT_EQ(out[d], in[d]) << all.devices[d].name;
          }
        }
      }
    }
  }
}

TEST(RailFatTree, HashesOneFlowAlwaysAlikeAndManyFlowsApart) {
  const Cluster cluster = build_cluster(dgx(), rail_fabric(40, "hash"), 8 * 40),
                again = build_cluster(dgx(), rail_fabric(40, "hash"), 8 * 40);
  std::map<LinkId, int> uses;
  for (std::uint32_t from = 0; from < 20; ++from) {
    for (std::uint32_t to = 20; to < 40; ++to) {
      const Path path = cluster.path(gpu(from, 0), gpu(to, 0));
      EXPECT_EQ(path.links, again.path(gpu(from, 0), gpu(to, 0)).links);
      ++uses[path.links[3]];  // GPU, PCIe switch, NIC, leaf, up
    }
  }
  EXPECT_EQ(uses.size(), 20u);  // all up-links of the leaf are used by 400 flows
  for (const auto& [link, count] : uses) {
    EXPECT_GE(count, 5) << index(link);
    EXPECT_LE(count, 40) << index(link);
  }
}

TEST(RailFatTree, MakesCollisionsVisibleOnlyWhenHashed) {
  // 20 flows that leave one leaf for another: hashed, some share a link of a NIC's width; adaptive, all share a wide
  // one.
  const auto busiest = [](const char* routing) {
    const Cluster cluster = build_cluster(dgx(), rail_fabric(40, routing), 8 * 40);
    std::map<LinkId, double> flows;
    for (std::uint32_t n = 0; n < 20; ++n) {
      for (const LinkId id : cluster.path(gpu(n, 0), gpu(20 + n, 0)).links) ++flows[id];
    }
    double most = 0;
    for (const auto& [id, count] : flows) most = std::max(most, count * 23e9 / cluster.link_bandwidth(id).value);
    return most;
  };
  EXPECT_DOUBLE_EQ(busiest("adaptive"), 1);
  EXPECT_GE(busiest("hash"), 2);
}

TEST(RailFatTree, HasAsManySwitchesAsThePublishedClosedForms) {
  // Non-blocking trees of radix k: k/2 spines under k leaves; k^3/4 ends, k^2/2 leaves and spines, k^2/4 cores.
  NodeSpec node = pcie_box(true, 1);
  node.gpus = 1;
  const Expanded two = expand(build_cluster(node, rail_fabric(8, "hash"), 32));
  EXPECT_EQ(count_devices(two, DeviceKind::leaf), 8u);
  EXPECT_EQ(count_devices(two, DeviceKind::spine), 4u);
  EXPECT_EQ(count_devices(two, DeviceKind::core), 0u);
  const Expanded three = expand(build_cluster(node, rail_fabric(8, "hash"), 128));
  EXPECT_EQ(count_devices(three, DeviceKind::leaf), 32u);
  EXPECT_EQ(count_devices(three, DeviceKind::spine), 32u);
  EXPECT_EQ(count_devices(three, DeviceKind::core), 16u);
  const Expanded one = expand(build_cluster(node, rail_fabric(8, "hash"), 8));
  EXPECT_EQ(count_devices(one, DeviceKind::leaf), 1u);
  EXPECT_EQ(count_devices(one, DeviceKind::spine), 0u);
}

}  // namespace
}  // namespace stepcast::topology
