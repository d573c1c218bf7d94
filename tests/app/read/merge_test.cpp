#include "app/read/merge.h"

#include <gtest/gtest.h>

#include "tests/app/read/fixtures.h"

namespace stepcast::app {
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
}  // namespace stepcast::app
