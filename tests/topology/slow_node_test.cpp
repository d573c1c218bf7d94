// Which links of a cluster are those of its slow node.

#include "topology/slow_node.h"

#include <gtest/gtest.h>

#include <set>
#include <stdexcept>
#include <string>

#include "tests/topology/machines.h"
#include "topology/cluster.h"

namespace stepcast::topology {
namespace {

/// The nodes, as names of links call them, at whose ends network links have half of their bandwidth.
std::set<std::string> slow_nodes(const Cluster& cluster) {
  std::set<std::string> nodes;
  for (std::uint32_t l = 0; l < cluster.links(); ++l) {
    const Link link = cluster.link(LinkId{l});
    if (cluster.link_speed(LinkId{l}) == 1) continue;
    EXPECT_EQ(cluster.link_speed(LinkId{l}), 0.5);
    EXPECT_EQ(link.kind, LinkKind::network) << link.from << " -> " << link.to;
    for (const std::string& end : {link.from, link.to})
      if (end.starts_with("node ")) nodes.insert(end.substr(0, end.find(" /")));
  }
  return nodes;
}

Cluster with_slow(std::uint32_t node) { return build_cluster(dgx(), rail_fabric(), 24, {}, SlowNode{node, 0.5}); }

TEST(SlowNode, HasSlowNetworkCardsAndNothingElse) {
  EXPECT_EQ(slow_nodes(with_slow(0)), std::set<std::string>{"node 0"});
  EXPECT_EQ(slow_nodes(with_slow(2)), std::set<std::string>{"node 2"});
  const Cluster cluster = with_slow(1);
  std::uint32_t links = 0;
  for (std::uint32_t l = 0; l < cluster.links(); ++l) links += cluster.link_speed(LinkId{l}) == 0.5 ? 1u : 0u;
  EXPECT_EQ(links, 2 * dgx().nics) << "each card up and down";
  EXPECT_EQ(slow_nodes(cluster.without_slow_node()), std::set<std::string>{});
}

TEST(SlowNode, OfAnAllocationIsTheOneInItsPlaceThere) {
  const Allocation allocation = resolve(parse_allocation("node5:0-7,node2:0-3"), 8, "");
  const auto slow = [&](std::uint32_t node) {
    return slow_nodes(build_cluster(dgx(), rail_fabric(), 12, allocation, SlowNode{node, 0.5}));
  };
  EXPECT_EQ(slow(0), std::set<std::string>{"node 5"});
  EXPECT_EQ(slow(1), std::set<std::string>{"node 2"});
}

TEST(SlowNode, IsOneInUse) {
  EXPECT_THROW(build_cluster(dgx(), rail_fabric(), 16, {}, SlowNode{2, 0.5}), std::logic_error);
}

}  // namespace
}  // namespace stepcast::topology
