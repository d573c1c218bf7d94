#include "topology/cluster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <ostream>
#include <stdexcept>
#include <string>

#include "tests/topology/machines.h"
#include "topology/expand.h"

namespace stepcast::topology {
namespace {

using testing::Each;

struct ClusterCase {
  const char* name;
  NodeSpec node;
  FabricSpec fabric;
  std::uint32_t gpus;
};
void PrintTo(const ClusterCase& c, std::ostream* out) { *out << c.name; }

NodeSpec bridged_box() {
  NodeSpec node = pcie_box();
  node.nvlinks_per_gpu = 12;
  node.nvlink = test_nvlink();
  return node;
}

NodeSpec switchless_box() {
  NodeSpec node = pcie_box(true, 2);
  node.gpus_per_pcie_switch = 0;
  return node;
}

class EveryCluster : public testing::TestWithParam<ClusterCase> {
 protected:
  Cluster cluster_ = build_cluster(GetParam().node, GetParam().fabric, GetParam().gpus);
  template <class Check>
  void for_all_pairs(Check check) const {
    for (std::uint32_t a = 0; a < cluster_.gpus(); ++a) {
      for (std::uint32_t b = 0; b < cluster_.gpus(); ++b) check(GpuId{a}, GpuId{b});
    }
  }
};

INSTANTIATE_TEST_SUITE_P(
    Machines, EveryCluster,
    testing::Values(
        ClusterCase{"dgx", dgx(), rail_fabric(), 8}, ClusterCase{"part of a dgx", dgx(), rail_fabric(), 3},
        ClusterCase{"two dgx", dgx(), rail_fabric(), 16}, ClusterCase{"two dgx on one switch", dgx(), big_switch(), 16},
        ClusterCase{"two levels", dgx(), rail_fabric(8), 64}, ClusterCase{"three levels", dgx(), rail_fabric(16), 192},
        ClusterCase{"three levels hashed", dgx(), rail_fabric(16, "hash"), 192},
        ClusterCase{"oversubscribed", dgx(), rail_fabric(9, "hash", 2), 96},
        ClusterCase{"planes", dgx(), rail_fabric(4, "hash"), 128}, ClusterCase{"box", pcie_box(), rail_fabric(), 4},
        ClusterCase{"box without P2P", pcie_box(false), rail_fabric(), 4},
        ClusterCase{"box with bridges", bridged_box(), rail_fabric(), 4},
        ClusterCase{"boxes without switches", switchless_box(), rail_fabric(), 8},
        ClusterCase{"boxes without P2P", pcie_box(false, 4), rail_fabric(8, "hash"), 16},
        ClusterCase{"own", hand_written(), rail_fabric(), 3},
        ClusterCase{"own, several", hand_written(), rail_fabric(4), 24}),
    [](const auto& suite) {
      std::string name = suite.param.name;
      std::replace_if(
          name.begin(), name.end(), [](char c) { return c == ' ' || c == ','; }, '_');
      return name;
    });

TEST_P(EveryCluster, ReachesEveryGpuFromEveryGpuAlongLinksThatChain) {
  const Expanded all = expand(cluster_);
  std::vector<std::uint32_t> gpus;  // devices that are GPUs, in order; a part of a node has more of them
  for (std::uint32_t d = 0; d < all.devices.size(); ++d) {
    if (all.devices[d].kind == DeviceKind::gpu) gpus.push_back(d);
  }
  for_all_pairs([&](GpuId a, GpuId b) {
    const Path path = cluster_.path(a, b);
    std::uint32_t at = gpus[index(a)];
    for (const LinkId id : path.links) {
      ASSERT_EQ(all.links[index(id)].from, at);
      at = all.links[index(id)].to;
    }
    EXPECT_EQ(at, gpus[index(b)]);
    EXPECT_THAT(path.loads, Each(1.0));
    EXPECT_EQ(path.loads.size(), path.links.size());
  });
}

TEST_P(EveryCluster, GoesBackAsItCame) {
  for_all_pairs([&](GpuId a, GpuId b) {
    const Path there = cluster_.path(a, b), back = cluster_.path(b, a);
    EXPECT_EQ(there.kind, back.kind);
    EXPECT_EQ(there.latency, back.latency);
    EXPECT_EQ(there.bandwidth, back.bandwidth);
    EXPECT_EQ(there.links.size(), back.links.size());
  });
}

TEST_P(EveryCluster, AddsLatenciesAndTakesTheNarrowestLink) {
  for_all_pairs([&](GpuId a, GpuId b) {
    const Path path = cluster_.path(a, b);
    Time sum{};
    Bandwidth least{std::numeric_limits<double>::infinity()};
    for (const LinkId id : path.links) {
      sum += cluster_.link(id).latency;
      least = std::min(least, cluster_.link_bandwidth(id));
    }
    EXPECT_EQ(path.latency, sum);
    EXPECT_EQ(path.bandwidth, least);
    EXPECT_EQ(path.kind == PathKind::same_gpu, a == b);
    EXPECT_EQ(path.kind == PathKind::network, cluster_.node_of(a) != cluster_.node_of(b));
  });
}

TEST_P(EveryCluster, NeverCrossesALinkTwice) {
  for_all_pairs([&](GpuId a, GpuId b) {
    std::vector<LinkId> links = cluster_.path(a, b).links;
    std::sort(links.begin(), links.end());
    EXPECT_EQ(std::adjacent_find(links.begin(), links.end()), links.end());
  });
}

TEST(Cluster, CountsGpusAndNodes) {
  const Cluster cluster = build_cluster(dgx(), rail_fabric(), 24);
  EXPECT_EQ(cluster.gpus(), 24u);
  EXPECT_EQ(cluster.nodes(), 3u);
  EXPECT_EQ(cluster.gpus_per_node(), 8u);
  EXPECT_EQ(cluster.node_of(GpuId{17}), 2u);
}

TEST(Cluster, MayBeAPartOfOneNode) {
  const Cluster cluster = build_cluster(dgx(), rail_fabric(), 3);
  EXPECT_EQ(cluster.gpus(), 3u);
  EXPECT_EQ(cluster.nodes(), 1u);
  EXPECT_EQ(cluster.gpus_per_node(), 3u);
  EXPECT_THROW(cluster.path(GpuId{0}, GpuId{3}), std::logic_error);
}

TEST(Cluster, NumbersLinksNodeByNodeAndThenTheFabric) {
  const Cluster one = build_cluster(dgx(), rail_fabric(), 8), many = build_cluster(dgx(), rail_fabric(8), 64);
  const std::uint32_t in_node = one.links(), per_node = in_node + 2 * 8;  // and each NIC's cable, up and down
  for (std::uint32_t node = 0; node < 8; ++node) {
    for (std::uint32_t k = 0; k < in_node; ++k) {
      const Link first = one.link(LinkId{k}), link = many.link(LinkId{node * per_node + k});
      EXPECT_EQ(link.from, "node " + std::to_string(node) + first.from.substr(6));
      EXPECT_EQ(link.to, "node " + std::to_string(node) + first.to.substr(6));
      EXPECT_EQ(link.bandwidth, first.bandwidth);
    }
    const Link cable = many.link(LinkId{node * per_node + in_node + 2 * 3});
    EXPECT_EQ(cable.from, "node " + std::to_string(node) + " / nic 3");
    EXPECT_EQ(cable.to, "rail 3 / leaf " + std::to_string(node / 4));
    EXPECT_EQ(cable.kind, LinkKind::network);
  }
  EXPECT_EQ(many.link(LinkId{8 * per_node}).from, "rail 0 / leaf 0");
  EXPECT_THROW(many.link(LinkId{many.links()}), std::logic_error);
  EXPECT_THROW(one.link(LinkId{one.links()}), std::logic_error);
}

TEST(Cluster, AppliesTheEfficiencyOfALink) {
  NodeSpec node = dgx();
  node.nvlink->efficiency = 0.5;
  EXPECT_EQ(build_cluster(node, rail_fabric(), 8).path(GpuId{0}, GpuId{1}).bandwidth, Bandwidth{120e9});
}

TEST(Cluster, SaysWhatIsWrongWithGpusAndNics) {
  const auto build = [](const NodeSpec& node, std::uint32_t gpus) {
    return error_of([&] { build_cluster(node, rail_fabric(), gpus); });
  };
  EXPECT_EQ(build(dgx(), 20), "dgx: 20 GPUs is no whole number of nodes of 8");
  EXPECT_EQ(build(dgx(), 0), "dgx: 0 GPUs: a cluster has at least 1");
  EXPECT_EQ(build(pcie_box(), 8), "box: 2 nodes cannot be joined: the node has no NICs");
  NodeSpec no_type = dgx();
  no_type.nic.reset();
  EXPECT_EQ(build(no_type, 16), "dgx: 2 nodes cannot be joined: 'nic' names no link type");
  NodeSpec far_too_many = dgx();
  EXPECT_EQ(error_of([&] { build_cluster(far_too_many, big_switch(), 4'000'000'000u); }),
            "dgx: 4000000000 GPUs have more links than can be numbered");
}

TEST(Cluster, SaysWhichLinkTypeIsOutOfRange) {
  NodeSpec node = dgx();
  node.pcie->bandwidth = Bandwidth{0};
  EXPECT_EQ(error_of([&] { build_cluster(node, rail_fabric(), 8); }),
            "dgx: link 'pcie': bandwidth must be more than 0");
  node = dgx();
  node.nvlink->efficiency = 1.5;
  EXPECT_EQ(error_of([&] { build_cluster(node, rail_fabric(), 8); }),
            "dgx: link 'nvlink': efficiency must be more than 0 and at most 1");
  node = dgx();
  node.nic->latency = nanoseconds(-1);
  EXPECT_EQ(error_of([&] { build_cluster(node, rail_fabric(), 16); }), "dgx: link 'nic': latency must be 0 or more");
}

/// From rail to rail: over NVSwitches to the GPU of the receiver's rail, but not over a link that two GPUs alone have,
/// where the spines join the rails.
TEST(Cluster, ChangesRailsWhereThereIsRoom) {
  NodeSpec mesh = dgx();
  mesh.name = "mesh";
  mesh.builder = "mesh";
  mesh.gpus_per_pcie_switch = 1;
  mesh.nvlink_pairs = "all x1";
  FabricSpec apart = rail_fabric();
  apart.kind = "rail-only";
  const auto crosses_nvlink = [](const NodeSpec& node, const FabricSpec& fabric) {
    const Cluster cluster = build_cluster(node, fabric, 16);
    const Path path = cluster.path(GpuId{0}, GpuId{15});
    return std::ranges::any_of(path.links,
                               [&](LinkId link) { return cluster.link_traits(link).kind == LinkKind::nvlink; });
  };
  NodeSpec switched = dgx();
  switched.gpus_per_pcie_switch = 1;
  EXPECT_TRUE(crosses_nvlink(switched, rail_fabric()));
  EXPECT_FALSE(crosses_nvlink(mesh, rail_fabric()));
  EXPECT_TRUE(crosses_nvlink(mesh, apart));
}

TEST(Cluster, SaysWhereThereIsNoWay) {
  NodeSpec node = hand_written();
  node.devices.push_back({"island", "gpu"});
  node.gpus = 4;
  const Cluster one = build_cluster(node, rail_fabric(), 4), two = build_cluster(node, rail_fabric(), 8);
  EXPECT_EQ(error_of([&] { one.path(GpuId{0}, GpuId{3}); }), "no path from node 0 / left to node 0 / island");
  EXPECT_EQ(error_of([&] { two.path(GpuId{7}, GpuId{1}); }), "no path from node 1 / island to node 0 / middle");
}

/// Two sockets of four GPUs each, without switches.
NodeSpec two_sockets(std::uint32_t links) {
  NodeSpec node = pcie_box();
  node.gpus = 8;
  node.gpus_per_pcie_switch = 0;
  node.socket_links = links;
  return node;
}

/// By socket link from the first socket to the second: how many pairs of GPUs cross it.
std::map<LinkId, int> pairs_by_socket_link(const Cluster& cluster) {
  std::map<LinkId, int> pairs;
  for (std::uint32_t a = 0; a < 4; ++a)
    for (std::uint32_t b = 4; b < 8; ++b)
      for (const LinkId link : cluster.path(GpuId{a}, GpuId{b}).links)
        if (cluster.link_traits(link).kind == LinkKind::socket) ++pairs[link];
  return pairs;
}

TEST(SocketLinks, PairsSpreadOverThemAndEachPairHasOne) {
  for (const std::uint32_t links : {1u, 2u, 3u, 4u}) {
    const Cluster cluster = build_cluster(two_sockets(links), big_switch(), 8);
    const std::map<LinkId, int> pairs = pairs_by_socket_link(cluster);
    ASSERT_EQ(pairs.size(), links);
    for (const auto& [link, crossing] : pairs) EXPECT_NEAR(crossing, 16.0 / links, 1) << links;
    EXPECT_EQ(cluster.path(GpuId{0}, GpuId{4}).bandwidth.value, 16e9);  // test_socket()
  }
}

TEST(SocketLinks, AWayBackTakesTheSameLinkAsTheWayThere) {
  const Cluster cluster = build_cluster(two_sockets(3), big_switch(), 8);
  for (std::uint32_t a = 0; a < 4; ++a)
    for (std::uint32_t b = 4; b < 8; ++b) {
      const Path there = cluster.path(GpuId{a}, GpuId{b}), back = cluster.path(GpuId{b}, GpuId{a});
      // The two directions of a link stand side by side in the graph.
      EXPECT_EQ(index(there.links[1]) / 2, index(back.links[1]) / 2) << a << ' ' << b;
    }
}

TEST(SocketLinks, NoneIsAnError) {
  EXPECT_THAT(error_of([] { build_cluster(two_sockets(0), big_switch(), 8); }),
              testing::HasSubstr("socket_links: sockets are joined by at least 1"));
}

}  // namespace
}  // namespace stepcast::topology
