// Which links of a cluster are those of its slow node.

#include "workload/slow_links.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "tests/workload/machine_of_boxes.h"

namespace stepcast::workload {
namespace {

/// The nodes, as names of links call them, at whose ends network links have half of their bandwidth.
std::set<std::string> slow_nodes(const topology::Cluster& cluster, std::uint32_t node) {
  const SlowLinks slow(cluster, node, 0.5);
  std::set<std::string> nodes;
  for (std::uint32_t l = 0; l < cluster.links(); ++l) {
    const topology::Link link = cluster.link(topology::LinkId{l});
    const bool own = link.kind == topology::LinkKind::network;
    if (slow.speed(topology::LinkId{l}) == 1) continue;
    EXPECT_TRUE(own) << link.from << " -> " << link.to;
    for (const std::string& end : {link.from, link.to})
      if (end.starts_with("node ")) nodes.insert(end.substr(0, end.find(" /")));
  }
  return nodes;
}

TEST(SlowLinks, AreThoseOfANodesNetworkCards) {
  const Machine machine(test::boxes(24, 2));
  EXPECT_EQ(slow_nodes(machine.cluster(), 0), std::set<std::string>{"node 0"});
  EXPECT_EQ(slow_nodes(machine.cluster(), 2), std::set<std::string>{"node 2"});
  const SlowLinks slow(machine.cluster(), 1, 0.5);
  int links = 0;
  for (std::uint32_t l = 0; l < machine.cluster().links(); ++l) links += slow.speed(topology::LinkId{l}) == 0.5 ? 1 : 0;
  EXPECT_EQ(links, 4) << "two cards, each up and down";
}

TEST(SlowLinks, OfAnAllocationAreThoseOfTheNodeInItsPlaceThere) {
  MachineSpec spec = test::boxes(16, 2);
  spec.allocation = topology::resolve(topology::parse_allocation("node5:0-7,node2:0-3"), 8, "");
  spec.gpus = 12;
  const Machine machine(spec);
  EXPECT_EQ(slow_nodes(machine.cluster(), 0), std::set<std::string>{"node 5"});
  EXPECT_EQ(slow_nodes(machine.cluster(), 1), std::set<std::string>{"node 2"});
}

}  // namespace
}  // namespace stepcast::workload
