// Fabrics whose switches and cables are listed.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/topology/machines.h"
#include "topology/fabrics.h"
#include "topology/job_spread.h"
#include "topology/leaf_traffic.h"
#include "topology/matrix.h"

namespace stepcast::topology {
namespace {

using testing::HasSubstr;

FabricSpec listed(std::vector<FabricSwitch> switches, std::vector<FabricCables> cables,
                  const char* routing = "adaptive") {
  FabricSpec spec = rail_fabric(40, routing);
  spec.name = "listed";
  spec.kind = "graph";
  spec.switches = std::move(switches);
  spec.cables = std::move(cables);
  return spec;
}

/// Leaves of four nodes under two spines; `up` cables from each leaf to each spine.
FabricSpec two_spines(std::uint32_t leaves, std::uint32_t up, const char* routing = "adaptive") {
  std::vector<FabricSwitch> switches;
  for (std::uint32_t leaf = 0; leaf < leaves; ++leaf)
    switches.push_back({"leaf" + std::to_string(leaf),
                        "n[" + std::to_string(4 * leaf) + "-" + std::to_string(4 * leaf + 3) + "]", ""});
  switches.push_back({"spine0", "", ""});
  switches.push_back({"spine1", "", ""});
  return listed(std::move(switches), {{"leaf[0-" + std::to_string(leaves - 1) + "]", "spine[0-1]", std::nullopt, up}},
                routing);
}

NodeSpec one_card() {
  NodeSpec node = dgx();
  node.nics = 1;
  return node;
}

std::unique_ptr<const Fabric> built(const FabricSpec& spec, std::uint32_t nodes, std::uint32_t nics = 1) {
  return build_fabric({spec, nodes, nics, Bandwidth{10e9}, 0.5});
}

TEST(GraphFabric, IsTheFatTreeOfTheSameSwitches) {
  FabricSpec tree = rail_fabric(8);
  tree.kind = "fat-tree";
  for (const std::uint32_t nodes : {8u, 12u, 16u}) {
    const auto graph = built(two_spines(4, 2), nodes), clos = built(tree, nodes);
    EXPECT_FALSE(graph->may_block);
    for (std::uint32_t senders = 1; senders < nodes; ++senders) {
      const Halves halves{nodes, senders, {10e9}, {10e9}};
      EXPECT_DOUBLE_EQ(graph->bisection(halves).value, clos->bisection(halves).value) << nodes << ' ' << senders;
    }
    std::vector<std::uint32_t> way;
    ASSERT_TRUE(graph->route(graph->switch_of(0, 0), graph->switch_of(7, 0), 1, way));
    ASSERT_EQ(way.size(), 2u);
    EXPECT_DOUBLE_EQ(graph->links[way[0]].bandwidth.value, 40e9);  // four cables in all, as one
    EXPECT_EQ(graph->device(graph->links[way[0]].to).name, "spine0 and 1 beside it");
  }
}

TEST(GraphFabric, DrawsCablesWhereFlowsAreHashed) {
  const auto graph = built(two_spines(4, 2, "hash"), 16);
  EXPECT_EQ(graph->switches, 6u);
  EXPECT_EQ(graph->links.size(), 2 * 4 * 4u);
  std::set<std::uint32_t> first;
  for (std::uint64_t flow = 0; flow < 50; ++flow) {
    std::vector<std::uint32_t> way;
    ASSERT_TRUE(graph->route(0, 1, flow, way));
    ASSERT_EQ(way.size(), 2u);
    first.insert(way[0]);
  }
  EXPECT_EQ(first.size(), 4u);
}

TEST(GraphFabric, HasLinksOfTheirOwnBandwidth) {
  FabricSpec spec = listed({{"a", "x", ""}, {"b", "y", ""}, {"top", "", ""}},
                           {{"a", "top", Bandwidth{6e9}, 1}, {"b", "top", Bandwidth{50e9}, 2}});
  const auto graph = built(spec, 2);
  EXPECT_TRUE(graph->may_block);
  EXPECT_DOUBLE_EQ(graph->bisection({2, 1, {10e9}, {10e9}}).value, 3e9);  // half of the data sheet
  spec.routing = "spray";
  spec.spray_efficiency = 0.75;
  EXPECT_DOUBLE_EQ(built(spec, 2)->links[2].bandwidth.value, 50e9 * 0.75);
  EXPECT_DOUBLE_EQ(built(spec, 2)->links[0].bandwidth.value, 3e9);  // one cable: nothing to draw
}

TEST(GraphFabric, PutsCardsOnRails) {
  const FabricSpec rails = listed({{"even", "n[0-3]", "0"}, {"odd", "n[0-3]", "1"}}, {});
  const auto graph = built(rails, 4, 2);
  EXPECT_TRUE(graph->rails);
  std::vector<std::uint32_t> way;
  EXPECT_FALSE(graph->route(graph->switch_of(0, 0), graph->switch_of(1, 1), 1, way));
  EXPECT_FALSE(built(two_spines(2, 1), 8, 2)->rails);
}

TEST(GraphFabric, SaysWhatDoesNotFit) {
  const auto said = [](const FabricSpec& spec, std::uint32_t nodes, std::uint32_t nics = 1) {
    return error_of([&] { built(spec, nodes, nics); });
  };
  EXPECT_EQ(said(two_spines(2, 1), 9), "listed: switches: found 8 nodes on them, expected the 9 of the cluster");
  EXPECT_THAT(said(listed({{"a", "n0", "1"}}, {}), 1, 1),
              HasSubstr("network card 1 of node 'n0', expected cards below"));
  EXPECT_THAT(said(listed({{"a", "n0", "0"}}, {}), 1, 2), HasSubstr("no switch for network card 1 of node 'n0'"));
  EXPECT_THAT(said(listed({{"a", "n0", ""}, {"b", "n0", ""}}, {}), 1), HasSubstr("on 'a' and on 'b'"));
  EXPECT_THAT(said(listed({{"a", "n0", ""}}, {{"a", "bb", {}, 1}}), 1),
              HasSubstr("cables[0].to: switch 'bb' is unknown"));
  EXPECT_THAT(said(listed({}, {}), 1), HasSubstr("listed: switches: missing, with kind graph"));
}

TEST(GraphFabric, ClosedFormIsTheMaximumFlow) {
  for (const std::uint32_t up : {1u, 2u}) {
    const Cluster cluster = build_cluster(one_card(), two_spines(4, up), 8 * 16);
    EXPECT_NEAR(bisection_in_closed_form(cluster)->value / bisection(cluster).value, 1, 1e-9) << up;
  }
}

TEST(JobSpread, CountsLeavesAndTheNarrowestOfThem) {
  Allocation packed, scattered;
  packed.of_nodes = scattered.of_nodes = 16;
  for (const std::uint32_t node : {0u, 1u, 2u, 3u}) packed.nodes.push_back({node, {}});
  for (const std::uint32_t node : {0u, 1u, 4u, 8u}) scattered.nodes.push_back({node, {}});
  const auto of = [](const Allocation& allocation, std::uint32_t up) {
    return *job_spread(build_cluster(one_card(), two_spines(4, up), resolve(allocation, 8, "")));
  };
  EXPECT_EQ(of(packed, 2).leaves, 1u);
  EXPECT_FALSE(of(packed, 2).narrowest);
  const JobSpread wide = of(scattered, 2);
  EXPECT_EQ(wide.nodes, 4u);
  EXPECT_EQ(wide.leaves, 3u);
  EXPECT_EQ(wide.of_leaves, 4u);
  EXPECT_EQ(wide.fewest, 1u);
  EXPECT_FALSE(wide.narrowest);
  Allocation all;
  all.of_nodes = 16;
  for (std::uint32_t node = 0; node < 7; ++node) all.nodes.push_back({node, {}});
  const JobSpread narrow = of(all, 1);  // two cables for four nodes, and for three
  EXPECT_EQ(narrow.narrow_leaves, 2u);
  EXPECT_EQ(narrow.narrowest->name, "leaf0");
  EXPECT_DOUBLE_EQ(narrow.narrowest->below / narrow.narrowest->up, 2);
}

TEST(JobSpread, IsOfFabricsThatListTheirNodes) {
  EXPECT_FALSE(job_spread(build_cluster(one_card(), rail_fabric(40, "adaptive"), 64)));
  EXPECT_FALSE(job_spread(build_cluster(one_card(), FabricSpec{}, 8))) << "no fabric at all";
}

TEST(GraphFabric, TakesASwitchThatStandsSeveralTimesWithItsCards) {
  NodeSpec two_cards = one_card();
  two_cards.nics = 2;
  const FabricSpec crossed = listed({{"a", "n0", "0"}, {"b", "n0", "1"}, {"a", "n1", "1"}, {"b", "n1", "0"}}, {});
  const Cluster cluster = build_cluster(two_cards, crossed, 16);
  EXPECT_EQ(cluster.nodes(), 2u);
  EXPECT_THROW(build_cluster(two_cards, listed({{"a", "n0", "0"}, {"a", "n1", ""}, {"b", "n1", "0"}}, {}), 16),
               InputError);
}

TEST(StaysBelowLeaves, WhereAllCardsOrThoseOfEachRailAreOnOneLeaf) {
  EXPECT_TRUE(stays_below_leaves(build_cluster(one_card(), two_spines(4, 2), 32)));
  EXPECT_FALSE(stays_below_leaves(build_cluster(one_card(), two_spines(4, 2), 40)))
      << "a fifth node is on another leaf";
  EXPECT_TRUE(stays_below_leaves(build_cluster(dgx(), rail_fabric(40, "adaptive"), 64)));
  EXPECT_FALSE(stays_below_leaves(build_cluster(dgx(), rail_fabric(40, "adaptive"), 512)));
}

}  // namespace
}  // namespace stepcast::topology
