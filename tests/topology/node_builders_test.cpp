#include "topology/node_builders.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/topology/machines.h"
#include "topology/fabrics.h"

namespace stepcast::topology {
namespace {

TEST(Builders, HaveDistinctNamesAndSayWhatTheyRead) {
  std::set<std::string_view> names;
  for (const Builder* builder : builders()) {
    EXPECT_TRUE(names.insert(builder->name).second) << builder->name;
    EXPECT_FALSE(builder->summary.empty());
    EXPECT_NE(builder->build, nullptr);
  }
}

TEST(Fabrics, HaveDistinctNamesAndSayWhatTheyRead) {
  std::set<std::string_view> names;
  for (const FabricBuilder* fabric : fabrics()) {
    EXPECT_TRUE(names.insert(fabric->name).second) << fabric->name;
    EXPECT_FALSE(fabric->summary.empty());
    EXPECT_NE(fabric->build, nullptr);
  }
}

TEST(Builders, NameTheNearestOfAnUnknownOne) {
  NodeSpec node = dgx();
  node.builder = "nvswich";
  EXPECT_EQ(error_of([&] { build_cluster(node, rail_fabric(), 8); }),
            "dgx: builder 'nvswich' is unknown; did you mean 'nvswitch'? Allowed: nvswitch, mesh, pcie, torus, graph");
  node.builder = "mainframe";
  EXPECT_EQ(error_of([&] { build_cluster(node, rail_fabric(), 8); }),
            "dgx: builder 'mainframe' is unknown. Allowed: nvswitch, mesh, pcie, torus, graph");
}

TEST(Fabrics, NameTheNearestOfAnUnknownOne) {
  FabricSpec fabric = rail_fabric();
  fabric.kind = "rail-fat-tre";
  EXPECT_EQ(error_of([&] { build_cluster(dgx(), fabric, 16); }),
            "rails: fabric kind 'rail-fat-tre' is unknown; did you mean 'rail-fat-tree'? Allowed: one-switch, "
            "rail-fat-tree, rail-only, fat-tree, dragonfly-plus, torus, graph");
}

TEST(Fabrics, SayWhichFieldIsOutOfRange) {
  const auto build = [](const FabricSpec& fabric) { return error_of([&] { build_cluster(dgx(), fabric, 16); }); };
  EXPECT_EQ(build(rail_fabric(40, "hashed")),
            "rails: routing 'hashed' is unknown; did you mean 'hash'? Allowed: adaptive, hash, spray");
  EXPECT_EQ(build(rail_fabric(40, "hash", 0.5)), "rails: oversubscription: must be 1 or more");
  EXPECT_EQ(build(rail_fabric(1)), "rails: radix: a switch has at least 2 ports");
  EXPECT_EQ(build(rail_fabric(4, "hash", 9)), "rails: radix 4 leaves no up-links at this oversubscription");
  FabricSpec fabric = rail_fabric();
  fabric.cable_latency = nanoseconds(-5);
  EXPECT_EQ(build(fabric), "rails: latencies must be 0 or more");
}

}  // namespace
}  // namespace stepcast::topology
