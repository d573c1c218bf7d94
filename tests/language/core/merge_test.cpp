#include "language/core/merge.h"

#include <gtest/gtest.h>

#include "tests/language/fixtures.h"

namespace stepcast::language {
namespace {

Node laid_over(const std::string& under, const std::string& over) {
  Node tree = parse_yaml(under, "under.yaml");
  merge(scenario_schema(), tree, parse_yaml(over, "over.yaml"));
  return tree;
}

TEST(Merge, MappingsMergeKeyByKeyAndValuesReplace) {
  const Node tree = laid_over("training: {global_batch: 1, micro_batch: 2}", "training: {micro_batch: 3}");
  EXPECT_EQ(tree.find("training")->find("global_batch")->scalar, "1");
  EXPECT_EQ(tree.find("training")->find("micro_batch")->scalar, "3");
  EXPECT_EQ(text(locate(tree, "training.micro_batch")), "over.yaml:1:25");
  EXPECT_EQ(text(locate(tree, "training.global_batch")), "under.yaml:1:26");
}

TEST(Merge, AMappingOverAFilesNameStartsFromThatFile) {
  const Node tree = laid_over("model: gpt3-175b", "model: {layers: 12}");
  EXPECT_EQ(tree.find("model")->find("base")->scalar, "gpt3-175b");
  EXPECT_EQ(tree.find("model")->find("layers")->scalar, "12");
}

TEST(Merge, AFilesNameOverAMappingReplacesAllOfIt) {
  const Node tree = laid_over("model: {layers: 12}", "model: gpt3-175b");
  EXPECT_EQ(tree.find("model")->scalar, "gpt3-175b");
}

TEST(Merge, OneAlternativeTakesTheOtherAway) {
  const Node tree = laid_over("cluster: {node: a, nodes: 4}", "cluster: {gpus: 2}");
  EXPECT_EQ(tree.find("cluster")->find("nodes"), nullptr);
  EXPECT_EQ(tree.find("cluster")->find("gpus")->scalar, "2");
  EXPECT_EQ(tree.find("cluster")->find("node")->scalar, "a");
}

TEST(Merge, RecomputeAsAWordReplacesRecomputeAsAMapping) {
  EXPECT_EQ(laid_over("recompute: {every: 2}", "recompute: full").find("recompute")->scalar, "full");
  EXPECT_EQ(laid_over("recompute: full", "recompute: {every: 2}").find("recompute")->find("every")->scalar, "2");
}

TEST(Merge, AKeyTakesItsRivalsBelowAwayAndNoOthers) {
  const auto cluster = [](const std::string& under, const std::string& over) {
    const Node tree = laid_over("cluster: {" + under + "}", "cluster: {" + over + "}");
    std::string keys;
    for (const Entry& entry : tree.find("cluster")->entries) keys += entry.key + "=" + entry.value.scalar + " ";
    return keys;
  };
  EXPECT_EQ(cluster("gpus: 64", "nodes: 16"), "nodes=16 ");
  EXPECT_EQ(cluster("nodes: 8", "nodes: 2, gpus: 16"), "nodes=2 gpus=16 ");
  EXPECT_EQ(cluster("gpus: 8", "allocation: 0-3"), "allocation=0-3 ");
  EXPECT_EQ(cluster("nodes: 8", "allocation: 0-3"), "nodes=8 allocation=0-3 ");
  EXPECT_EQ(cluster("nodes: 2, allocation: 0-3", "gpus: 8"), "gpus=8 ");
  EXPECT_EQ(laid_over("training: {experts: {capacity: 1}}", "training: {experts: {spread: 0.1}}")
                .find("training")
                ->find("experts")
                ->find("capacity"),
            nullptr);
}

/// Constants of one network are not those of another: with the family, or all it is, said anew they go.
TEST(Merge, WhatWasMeasuredOfAnotherValueGoesWithIt) {
  const auto nic = [](const std::string& over) {
    const Node tree = laid_over("cluster: {node: {nic: {kind: network, family: efa, nccl: {share: 0.9}}}}",
                                "cluster: {node: {nic: {" + over + "}}}");
    std::string keys;
    for (const Entry& entry : tree.find("cluster")->find("node")->find("nic")->entries) keys += entry.key + " ";
    return keys;
  };
  EXPECT_EQ(nic("bandwidth: 1 GB/s"), "kind family nccl bandwidth ");
  EXPECT_EQ(nic("family: roce"), "kind family ");
  EXPECT_EQ(nic("kind: network"), "kind ");
  EXPECT_EQ(nic("family: roce, nccl: {ll_share: 0.5}"), "kind family nccl ");
}

TEST(Merge, AnErasedKeyTakesNoRivalAway) {
  Node tree = parse_yaml("cluster: {node: a, nodes: 4}", "under.yaml");
  Node erased;
  erased.erased = true;
  merge(scenario_schema(), tree, nest("cluster.gpus", erased));
  EXPECT_EQ(tree.find("cluster")->find("nodes")->scalar, "4");
  merge(scenario_schema(), tree, nest("cluster.nodes", erased));
  EXPECT_EQ(tree.find("cluster")->find("nodes"), nullptr);
}

TEST(Merge, DetailsOfOneValueTakeThoseOfAnotherAway) {
  const auto recompute = [](const std::string& under, const std::string& over) {
    const Node tree = laid_over("recompute: " + under, "recompute: " + over);
    std::string keys;
    for (const Entry& entry : tree.find("recompute")->entries) keys += entry.key + " ";
    return keys;
  };
  EXPECT_EQ(recompute("{every: 2, full_layers: 3}", "{modules: [mlp]}"), "modules ");
  EXPECT_EQ(recompute("{modules: [mlp]}", "{every: 2}"), "every ");
  EXPECT_EQ(recompute("{every: 2}", "{full_layers: 3}"), "every full_layers ");
  EXPECT_EQ(recompute("selective", "{modules: [mlp]}"), "modules ");
  EXPECT_EQ(recompute("full", "{modules: [mlp]}"), "modules ");
  const Node pipeline = laid_over("pipeline: {schedule: custom, orders: [F0 B0]}", "pipeline: {schedule: gpipe}");
  EXPECT_EQ(pipeline.find("pipeline")->find("orders"), nullptr);
  const Node same = laid_over("pipeline: {schedule: custom, orders: [F0 B0]}", "pipeline: {schedule: custom}");
  EXPECT_NE(same.find("pipeline")->find("orders"), nullptr);
}

TEST(Merge, ThreeLayersAreTheSameWhicheverTwoComeTogetherFirst) {
  const char* const lowest = "model: {family: gpt, layers: 4, hidden: 64}\nrecompute: {full_layers: 3}\n";
  const char* const middle = "model: gpt3-175b\nrecompute: full\n";
  const char* const upper = "model: {layers: 12}\nrecompute: {every: 2}\n";
  Node one_by_one = parse_yaml(lowest, "a.yaml");
  merge(scenario_schema(), one_by_one, parse_yaml(middle, "b.yaml"));
  merge(scenario_schema(), one_by_one, parse_yaml(upper, "c.yaml"));
  Node above = parse_yaml(middle, "b.yaml");
  merge(scenario_schema(), above, parse_yaml(upper, "c.yaml"));
  Node together = parse_yaml(lowest, "a.yaml");
  merge(scenario_schema(), together, above);
  for (const Node* tree : {&one_by_one, &together}) {
    EXPECT_EQ(tree->find("model")->entries.size(), 2u);
    EXPECT_EQ(tree->find("model")->find("base")->scalar, "gpt3-175b");
    EXPECT_EQ(tree->find("recompute")->entries.size(), 1u);
    EXPECT_EQ(tree->find("recompute")->find("every")->scalar, "2");
  }
}

TEST(Merge, AMappingGetsNoMoreKeysThanAFileMayHave) {
  const auto keys = [](char first) {
    std::string text;
    for (int i = 0; i < 300; ++i) text.append(1, first).append(std::to_string(i)).append(": 1\n");
    return text;
  };
  EXPECT_EQ(complaint([&] { laid_over(keys('a'), keys('b')); }),
            "over.yaml:201:1: found 'b200' behind 500 keys of one mapping, expected fewer");
  EXPECT_EQ(laid_over(keys('a'), keys('a')).entries.size(), 300u);
}

TEST(Merge, NestBuildsThePathOfAKey) {
  const Node tree = nest("a.b.c", make_scalar("x", {"f", 1, 2}));
  EXPECT_EQ(tree.find("a")->find("b")->find("c")->scalar, "x");
}

TEST(Locate, IsTheValueOrTheDeepestParentThatIsThere) {
  const Node tree = parse_yaml("model: gpt3-175b\ntraining:\n  micro_batch: 2\n", "a.yaml");
  EXPECT_EQ(text(locate(tree, "training.micro_batch")), "a.yaml:3:16");
  EXPECT_EQ(text(locate(tree, "training.sequence")), "a.yaml:2:1");
  EXPECT_EQ(text(locate(tree, "model.heads")), "a.yaml:1:1");
  EXPECT_EQ(text(locate(tree, "pipeline.schedule")), "a.yaml:1:1");
}

}  // namespace
}  // namespace stepcast::language
