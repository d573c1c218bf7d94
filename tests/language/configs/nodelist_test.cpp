// cluster.nodelist, and switches and cables as a file lists them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/language/fixtures.h"

namespace stepcast::language {
namespace {

using testing::HasSubstr;

const std::string kLeaves =
    "fabric: {kind: graph, switches: [{name: leaf0, nodes: 'n[0-3]'}, {name: leaf1, nodes: 'n[4-7]'}, {name: top}], "
    "cables: [{from: 'leaf[0-1]', to: top, count: 8}]}";

std::string nodelist(const std::string& list) {
  return complaint([&] { small_with("cluster: {nodelist: '" + list + "', " + kLeaves + "}"); });
}

TEST(Nodelist, IsTheNodesInItsOrder) {
  const schedules::ClusterSpec cluster = small_with("cluster: {nodelist: 'n[6,1-2]', " + kLeaves + "}").cluster;
  ASSERT_TRUE(cluster.allocation);
  ASSERT_EQ(cluster.allocation->nodes.size(), 3u);
  EXPECT_EQ(cluster.allocation->nodes[0].node, 6u);
  EXPECT_EQ(cluster.allocation->nodes[1].node, 1u);
  EXPECT_EQ(cluster.allocation->of_nodes, 8u);
  EXPECT_EQ(cluster.gpus, 24u);
  EXPECT_FALSE(small_with("cluster: {nodes: 8, " + kLeaves + "}").cluster.allocation);
}

TEST(Nodelist, SaysWhatIsWrong) {
  EXPECT_THAT(nodelist("n[0-8]"), HasSubstr("keys.yaml:1:21: cluster.nodelist: found the node 'n8', which no switch"));
  EXPECT_THAT(nodelist("n0,n[0-1]"), HasSubstr("found the node 'n0' twice, expected it once"));
  EXPECT_THAT(nodelist("n[0-"), HasSubstr("cluster.nodelist: list of nodes 'n[0-': found the end as character 5"));
  EXPECT_THAT(complaint([] { small_with("cluster: {nodelist: n0}"); }), HasSubstr("whose nodes have no names"));
  EXPECT_THAT(complaint([] { small_with("cluster: {nodes: 9, " + kLeaves + "}"); }),
              HasSubstr("cluster.nodes: found 9 nodes, of which the switches of cluster.fabric list 8"));
}

TEST(GraphOfSwitches, SaysWhereItIsWrong) {
  const auto said = [](const std::string& keys) {
    return complaint([&] { small_with("cluster: {fabric: {kind: graph, " + keys + "}}"); });
  };
  EXPECT_THAT(said("switches: [{name: a, nodes: n0}, {name: a}]"),
              HasSubstr("keys.yaml:1:73: cluster.fabric.switches[1].name: found 'a' a second time"));
  EXPECT_THAT(said("switches: [{name: a, nodes: n0}], cables: [{from: a, to: b}]"),
              HasSubstr("cluster.fabric.cables[0].to: switch 'b' is unknown. Allowed: a"));
  EXPECT_THAT(said("switches: [{name: a, nodes: 'n['}]"),
              HasSubstr("cluster.fabric.switches[0].nodes: list of nodes 'n['"));
  EXPECT_THAT(said("switches: [{name: a}]"), HasSubstr("cluster.fabric.switches: found no nodes on any switch"));
  EXPECT_THAT(said("radix: 8"), HasSubstr("'graph' does not read"));
  EXPECT_THAT(said("routing: adaptive"), HasSubstr("cluster.fabric.switches: missing, with kind graph"));
}

}  // namespace
}  // namespace stepcast::language
