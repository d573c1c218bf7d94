#include "topology/allocation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <utility>

#include "tests/topology/machines.h"

namespace stepcast::topology {
namespace {

using testing::ElementsAre;

/// "0:0,1, 2:4," for nodes 0 and 2.
std::string shown(const Allocation& allocation) {
  std::ostringstream text;
  const char* between = "";
  for (const AllocatedNode& part : allocation.nodes) {
    text << between << part.node;
    char sign = ':';
    for (const std::uint32_t gpu : part.gpus) text << std::exchange(sign, ',') << gpu;
    between = " ";
  }
  return text.str();
}

TEST(Allocation, NamesGpusOfOneNode) {
  EXPECT_EQ(shown(parse_allocation("0-2,5")), "0:0,1,2,5");
  EXPECT_EQ(shown(parse_allocation(" 7 , 3 ")), "0:7,3");
}

TEST(Allocation, NamesGpusOfSeveralNodes) {
  EXPECT_EQ(shown(parse_allocation("node0:0-3,node2:4-5,7")), "0:0,1,2,3 2:4,5,7");
  EXPECT_EQ(shown(parse_allocation("node1-2:0,2")), "1:0,2 2:0,2");
  EXPECT_EQ(shown(resolve(parse_allocation("node1,node0:*"), 2, "")), "1:0,1 0:0,1");
}

TEST(Allocation, SaysWhatItCannotRead) {
  const auto parse = [](const char* text) { return error_of([&] { parse_allocation(text, "here"); }); };
  const std::string expected = "; expected GPUs such as '0-2,5' or 'node0:0-3,node2:4-7'";
  EXPECT_EQ(parse("0-2,x"), "here: allocation '0-2,x': found 'x'" + expected);
  EXPECT_EQ(parse(""), "here: allocation '': found ''" + expected);
  EXPECT_EQ(parse("3-1"), "here: allocation '3-1': found '3-1'" + expected);
  EXPECT_EQ(parse("node:1"), "here: allocation 'node:1': found 'node:1'" + expected);
  EXPECT_EQ(parse("0,0"), "here: allocation '0,0': GPU 0 of a node is listed twice" + expected);
  EXPECT_EQ(parse("node1:0,node1:2"), "here: allocation 'node1:0,node1:2': node 1 is listed twice" + expected);
  EXPECT_EQ(parse("node1,2"), "here: allocation 'node1,2': found '2' behind all GPUs of a node" + expected);
  EXPECT_EQ(parse("0,*"), "here: allocation '0,*': found '*' behind GPUs of the same node" + expected);
  EXPECT_EQ(parse("4294967296"), "here: allocation '4294967296': found '4294967296'" + expected);
}

TEST(Allocation, ListsAHundredThousandGpusAndNoMore) {
  const auto parse = [](const char* text) { return error_of([&] { parse_allocation(text, "here"); }); };
  EXPECT_EQ(parse("node0-12499:0-7"), "no error");
  for (const char* text : {"node0-12500:0-7", "node0-9999999", "node0-9999999:0", "node0-49999:0,node50000-99999:0-1"})
    EXPECT_THAT(parse(text), testing::HasSubstr(std::string(text) + "': found more than 100000 GPUs")) << text;
  EXPECT_EQ(error_of([] { resolve(parse_allocation("node0-12500"), 8, "here"); }),
            "here: allocation: found more than 100000 GPUs, expected fewer; for whole nodes say how many");
  EXPECT_LT(parse(("0," + std::string(900'000, 'x')).c_str()).size(), 300u);
}

TEST(Allocation, SaysWhatIsBeyondTheMachine) {
  const auto build = [](const char* text, std::uint32_t nodes) {
    return error_of([&] {
      Allocation allocation = parse_allocation(text);
      allocation.of_nodes = nodes;
      build_cluster(dgx(), rail_fabric(), allocation);
    });
  };
  EXPECT_EQ(build("0-8", 0), "dgx: allocation: GPU 8 of a node of 8 (0 to 7)");
  EXPECT_EQ(build("node4:1", 4), "dgx: allocation: node 4 of 4 (0 to 3)");
  EXPECT_EQ(error_of([] { build_cluster(dgx(), rail_fabric(), Allocation{}); }),
            "dgx: allocation: a cluster has at least 1 GPU");
}

TEST(AllocatedCluster, NumbersGpusInTheOrderWritten) {
  const Cluster cluster = build_cluster(dgx(), rail_fabric(), parse_allocation("node3:5,1,node1:2-3"));
  EXPECT_EQ(cluster.gpus(), 4u);
  EXPECT_EQ(cluster.nodes(), 2u);
  EXPECT_EQ(cluster.name(GpuId{0}), "node 3 / gpu 5");
  EXPECT_EQ(cluster.name(GpuId{1}), "node 3 / gpu 1");
  EXPECT_EQ(cluster.name(GpuId{3}), "node 1 / gpu 3");
  EXPECT_EQ(cluster.node_of(GpuId{1}), 0u);
  EXPECT_EQ(cluster.node_of(GpuId{2}), 1u);
}

TEST(AllocatedCluster, RepeatsOnlyWhereNodesAreUsedAlike) {
  const auto period = [](const char* text) {
    return build_cluster(dgx(), rail_fabric(), parse_allocation(text)).gpus_per_node();
  };
  EXPECT_EQ(period("node0-3:1,4,6"), 3u);
  EXPECT_EQ(period("node0:0-3,node1:4-7"), 8u);
  EXPECT_EQ(period("node0:0-3,node1:0"), 5u);
}

TEST(AllocatedCluster, OfTheFirstGpusIsThePlainCluster) {
  const Cluster plain = build_cluster(dgx(), rail_fabric(8), 64);
  const Cluster all = build_cluster(dgx(), rail_fabric(8), parse_allocation("node0-7"));
  for (std::uint32_t a = 0; a < 64; ++a) {
    for (std::uint32_t b = 0; b < 64; ++b) {
      const Path one = plain.path(GpuId{a}, GpuId{b}), other = all.path(GpuId{a}, GpuId{b});
      ASSERT_EQ(one.links, other.links);
      ASSERT_EQ(one.latency, other.latency);
    }
  }
}

TEST(AllocatedCluster, RelaysOnlyOverGpusInUse) {
  // GPU 1 to node 1's GPU 6: over node 0's GPU 6 where it is in use, else straight to the other rail over a spine.
  const Cluster with = build_cluster(dgx(), rail_fabric(), parse_allocation("node0:1,6,node1:6"));
  EXPECT_THAT(
      stations(with, with.path(GpuId{0}, GpuId{2})),
      ElementsAre("node 0 / gpu 1", "node 0 / nvswitch", "node 0 / gpu 6", "node 0 / pcie switch 3", "node 0 / nic 6",
                  "rail 6 / leaf 0", "node 1 / nic 6", "node 1 / pcie switch 3", "node 1 / gpu 6"));
  const Cluster without = build_cluster(dgx(), rail_fabric(), parse_allocation("node0:1,node1:6"));
  EXPECT_THAT(
      stations(without, without.path(GpuId{0}, GpuId{1})),
      ElementsAre("node 0 / gpu 1", "node 0 / pcie switch 0", "node 0 / nic 1", "rail 1 / leaf 0", "pod 0 / spine 0",
                  "rail 6 / leaf 0", "node 1 / nic 6", "node 1 / pcie switch 3", "node 1 / gpu 6"));
}

TEST(AllocatedCluster, ReachesOverToTheReceiversRailWhereRailsNeverMeet) {
  Allocation allocation = parse_allocation("node0:1,node1:6");
  allocation.of_nodes = 16;
  const Cluster cluster = build_cluster(dgx(), rail_fabric(4, "hash"), allocation);
  const std::vector<std::string> way = stations(cluster, cluster.path(GpuId{0}, GpuId{1}));
  EXPECT_EQ(std::count(way.begin(), way.end(), "node 0 / nic 6"), 1);
  EXPECT_EQ(std::count(way.begin(), way.end(), "BROKEN"), 0);
}

/// Four NICs on each GPU's switch: its traffic takes all four.
NodeSpec many_nics() {
  NodeSpec node = dgx();
  node.gpus_per_pcie_switch = 1;
  node.nics = 32;
  node.pcie->bandwidth = Bandwidth{100e9};
  return node;
}

TEST(SeveralNics, ShareOneGpusTraffic) {
  const Cluster cluster = build_cluster(many_nics(), big_switch(), 16);
  const Path path = cluster.path(GpuId{0}, GpuId{8});
  EXPECT_EQ(path.bandwidth, Bandwidth{4 * 23e9});
  for (std::size_t i = 0; i < path.links.size(); ++i) {
    const Link link = cluster.link(path.links[i]);
    const bool nic = link.from.find("nic") != std::string::npos || link.to.find("nic") != std::string::npos;
    EXPECT_EQ(path.loads[i], nic ? 0.25 : 1.0) << link.from << " to " << link.to;
  }
  EXPECT_EQ(path.links.size(), 2u + 4 * 4);
}

TEST(SeveralNics, OfUnlikeNumberAreFilledEvenly) {
  NodeSpec node = dgx();  // three NICs of a switch's two GPUs: two and one
  node.nics = 12;
  const Cluster cluster = build_cluster(node, big_switch(), 16);
  EXPECT_EQ(cluster.path(GpuId{0}, GpuId{8}).bandwidth, Bandwidth{24e9});  // its PCIe link
  const Path narrow = cluster.path(GpuId{0}, GpuId{9});
  EXPECT_EQ(narrow.bandwidth, Bandwidth{23e9});
  EXPECT_EQ(std::count(narrow.loads.begin(), narrow.loads.end(), 0.5), 4);  // to both NICs and out of them
}

}  // namespace
}  // namespace stepcast::topology
