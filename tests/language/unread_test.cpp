// Keys of nodes and fabrics that their builder or kind does not read.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "language/configs/files.h"
#include "language/questions.h"
#include "tests/language/fixtures.h"
#include "topology/fabrics.h"
#include "topology/node_builders.h"

namespace stepcast::language {
namespace {

using testing::HasSubstr;

/// What is said of the quickstart's cluster with these settings laid over it.
std::string with_settings(const std::vector<std::string>& settings) {
  const std::vector<std::string> paths = {STEPCAST_SOURCE_DIR "/scenarios/quickstart.yaml"};
  Library library = configs();
  return read_questions(paths, settings, library).front().error;
}

/// Of a scenario's own cluster.
std::string with_cluster(const std::string& cluster) {
  return complaint([&] { small_with("cluster: " + cluster); });
}

TEST(Unread, AKeyThatTheFabricsKindDoesNotReadIsAnErrorThatSaysWhatItReads) {
  EXPECT_EQ(with_settings({"cluster.fabric=rail-fat-tree-ndr", "cluster.fabric.torus=9x9"}),
            "--set cluster.fabric.torus=9x9: cluster.fabric.torus: found a key that the kind 'rail-fat-tree' does not "
            "read, expected one of radix, oversubscription, routing, seed, spray_efficiency");
  EXPECT_THAT(with_settings({"cluster.fabric=torus-8x8", "cluster.fabric.radix=40"}),
              HasSubstr("found a key that the kind 'torus' does not read, expected one of torus, routing, seed"));
  EXPECT_THAT(with_settings({"cluster.fabric=one-switch", "cluster.fabric.radix=40"}),
              HasSubstr("the kind 'one-switch' does not read, expected the key left out"));
  EXPECT_EQ(
      with_cluster("{fabric: {kind: fat-tree, groups: 4}}"),
      "keys.yaml:1:36: cluster.fabric.groups: found a key that the kind 'fat-tree' does not read, expected one of "
      "radix, levels, oversubscription, routing, seed, spray_efficiency");
}

TEST(Unread, AKeyThatTheNodesBuilderDoesNotReadIsAnErrorToo) {
  EXPECT_THAT(
      with_settings({"cluster.node=dgx-a100-80gb", "cluster.node.torus=4x4"}),
      HasSubstr("--set cluster.node.torus=4x4: cluster.node.torus: found a key that the builder 'nvswitch' does "
                "not read, expected one of gpus, sockets"));
  EXPECT_THAT(with_settings({"cluster.node=dgx-1-v100-16gb", "cluster.node.nvlinks_per_gpu=6"}),
              HasSubstr("the builder 'mesh' does not read"));
  EXPECT_THAT(with_settings({"cluster.node=dgx-1-v100-16gb", "cluster.node.nvlinks_per_gpu=6"}),
              HasSubstr("did you mean 'nvlink'?"));
  EXPECT_EQ(with_settings({"cluster.node=dgx-a100-80gb", "cluster.node.nvlinks_per_gpu=6"}), "");
}

TEST(Unread, WhatBelongsToOneRoutingIsAnErrorWithAnother) {
  EXPECT_EQ(with_cluster("{nodes: 2, fabric: {kind: fat-tree, seed: 3}}"),
            "keys.yaml:1:52: cluster.fabric.seed: found '3' with routing adaptive, which hashes nothing; expected "
            "routing hash or the key left out");
  EXPECT_EQ(with_cluster("{nodes: 2, fabric: {base: fat-tree-ndr, spray_efficiency: 0.5}}"),
            "keys.yaml:1:68: cluster.fabric.spray_efficiency: found '0.5' with routing adaptive, which sprays nothing; "
            "expected routing spray or the key left out");
  EXPECT_EQ(with_settings({"cluster.fabric.seed=4"}),
            "--set cluster.fabric.seed=4: cluster.fabric.seed: found '4' with routing adaptive, which hashes nothing; "
            "expected routing hash or the key left out");
  EXPECT_EQ(with_cluster("{fabric: {kind: fat-tree, routing: hash, seed: 3}}"), "");
  EXPECT_EQ(with_settings({"cluster.fabric=ethernet-ecmp", "cluster.fabric.seed=4"}), "");
  EXPECT_EQ(with_settings({"cluster.fabric=fat-tree-eqds", "cluster.fabric.routing=hash"}), "")
      << "another routing takes away what its base said to the first";
}

TEST(Unread, ARadixThatIsTooSmallIsAnErrorWhereItIsSaid) {
  EXPECT_EQ(with_settings({"cluster.nodes=128", "parallelism.data=128", "cluster.fabric.radix=2"}),
            "--set cluster.fabric.radix=2: cluster.fabric.radix: found '2', which is too small for 128 nodes: three "
            "levels of such switches join at most 2");
  EXPECT_THAT(
      with_cluster("{nodes: 128, fabric: {kind: fat-tree, radix: 4, levels: 2}}"),
      HasSubstr("keys.yaml:1:55: cluster.fabric.radix: found '4', which is too small for 1024 NICs on 2 levels"));
  EXPECT_THAT(with_cluster("{nodes: 128, fabric: {kind: fat-tree, oversubscription: 50}}"),
              HasSubstr("cluster.fabric.oversubscription: found '50', which leaves a switch of radix 40 no port to go "
                        "up with; expected an oversubscription of at most radix - 1"));
}

TEST(Unread, SprayingThatCannotBeSaysSoAtTheRouting) {
  EXPECT_EQ(with_cluster("{nodes: 2, fabric: {kind: fat-tree, routing: spray}}"),
            "keys.yaml:1:55: cluster.fabric.routing: found 'spray' without spray_efficiency, expected what sprayed "
            "paths carry of what their links could beside it, as the fabric fat-tree-eqds states it");
  EXPECT_EQ(with_cluster("{nodes: 2, fabric: {kind: torus, torus: 8x8, routing: spray}}"),
            "keys.yaml:1:64: cluster.fabric.routing: found 'spray' with kind torus, which goes dimension by dimension "
            "and leaves a packet no choice; expected adaptive or hash");
}

TEST(Unread, NodesThatNothingJoinsAreAnErrorAtWhatLeavesThemApart) {
  EXPECT_EQ(with_cluster("{nodes: 2, fabric: {kind: torus, torus: 1x1}}"),
            "keys.yaml:1:50: cluster.fabric.torus: found '1x1', which has a router for 1 of the 2 nodes, expected one "
            "for each");
  EXPECT_EQ(with_cluster("{nodes: 2, nics_per_node: 0}"),
            "keys.yaml:1:36: cluster.nics_per_node: found '0' with 2 nodes, expected at least one network card to join "
            "them");
  EXPECT_THAT(
      with_cluster("{nodes: 2, node: {base: dgx-a100-80gb, nics: 0}}"),
      HasSubstr("cluster.nodes: found 2 nodes 'dgx-a100-80gb', which have no network cards; expected one node"));
  EXPECT_EQ(with_cluster("{nodes: 1, nics_per_node: 0}"), "");
  EXPECT_EQ(with_cluster("{nodes: 2, nics_per_node: 8}"), "");
  EXPECT_EQ(with_cluster("{nodes: 2, nics_per_node: 9}"),
            "keys.yaml:1:36: cluster.nics_per_node: found '9' with the node 'dgx-a100-80gb', which has 8; expected at "
            "most 8, or more in node.nics");
  EXPECT_EQ(with_cluster("{nodes: 2, nics_per_node: 9, node: {base: dgx-a100-80gb, nics: 16}}"), "");
  EXPECT_THAT(with_cluster("{nodes: 1, nics_per_node: 1, node: {base: dgx-a100-80gb, nics: 0}}"),
              HasSubstr("cluster.nics_per_node: found '1' with the node 'dgx-a100-80gb', which has no network cards; "
                        "expected at most 0, or more in node.nics"));
  const std::string islands = "switches: [{name: a, nodes: 'n[0-1]'}, {name: b, nodes: 'n[2-3]'}]";
  EXPECT_EQ(
      with_cluster("{nodes: 4, fabric: {kind: graph, " + islands + "}}"),
      "keys.yaml:1:53: cluster.fabric.switches: found no way from the node 'n1' to the node 'n2', expected cables "
      "that join their switches");
  EXPECT_EQ(with_cluster("{nodelist: 'n[2-3]', fabric: {kind: graph, " + islands + "}}"), "");
  EXPECT_EQ(with_cluster("{nodes: 4, fabric: {kind: graph, " + islands + ", cables: [{from: b, to: a}]}}"), "");
}

TEST(Unread, AnotherKindTakesAwayWhatItsBaseSaidToTheFirst) {
  EXPECT_EQ(with_cluster("{fabric: {base: rail-fat-tree-ndr, kind: torus, torus: 8x8}}"), "");
  EXPECT_EQ(
      with_settings({"cluster.fabric=rail-fat-tree-ndr", "cluster.fabric.kind=torus", "cluster.fabric.torus=8x8"}), "");
  EXPECT_EQ(with_settings({"cluster.fabric=torus-8x8", "cluster.fabric.kind="}), "");
  EXPECT_EQ(with_cluster("{node: {base: dgx-a100-80gb, builder: pcie}}"), "");
  const schedules::Scenario scenario = small_with("cluster: {fabric: {base: rail-fat-tree-ndr, kind: one-switch}}");
  EXPECT_EQ(scenario.cluster.fabric.radix, topology::FabricSpec{}.radix);
  EXPECT_EQ(scenario.cluster.fabric.switch_latency, Time{150'000});
}

TEST(Unread, WhatIsSaidBesideTheOtherKindIsNotTakenAway) {
  EXPECT_THAT(with_cluster("{fabric: {base: rail-fat-tree-ndr, kind: torus, torus: 8x8, radix: 40}}"),
              HasSubstr("cluster.fabric.radix: found a key that the kind 'torus' does not read"));
}

template <class Builders>
void expect_keys(const Schema& schema, const Builders& builders) {
  for (const auto* const builder : builders) {
    const std::optional<Names> reads = read_by(schema, builder->name);
    ASSERT_TRUE(reads) << builder->name;
    for (const std::string_view key : *reads) EXPECT_NE(find_key(schema, key), nullptr) << builder->name << ": " << key;
    for (const std::string_view key : schema.reader->everybody)
      EXPECT_EQ(std::ranges::count(*reads, key), 1) << builder->name << ": " << key << " is read by all";
  }
}

TEST(Unread, EveryBuilderAndEveryKindOfFabricReadsKeysThatThereAre) {
  expect_keys(node_schema(), topology::builders());
  expect_keys(fabric_schema(), topology::fabrics());
}

TEST(Unread, EveryKeyOfNodesAndFabricsIsReadBySomebody) {
  const auto read_by_none = [](const Schema& schema, const auto& builders) {
    Names none;
    for (const KeyInfo& key : schema.keys)
      if (std::ranges::none_of(builders, [&](const auto* builder) {
            const std::optional<Names> reads = read_by(schema, builder->name);
            return std::ranges::find(*reads, key.path) != reads->end();
          }))
        none.push_back(key.path);
    return none;
  };
  EXPECT_EQ(read_by_none(node_schema(), topology::builders()), Names{});
  EXPECT_EQ(read_by_none(fabric_schema(), topology::fabrics()), Names{});
}

}  // namespace
}  // namespace stepcast::language
