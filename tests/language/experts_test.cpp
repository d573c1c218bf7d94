// Models with experts and latent attention, as written.

#include <gtest/gtest.h>

#include "language/configs/model.h"
#include "tests/language/fixtures.h"

namespace stepcast::language {
namespace {

/// A scenario with this model; the model stands in line 2.
schedules::Scenario read_model(const std::string& model) {
  Library library = configs();
  return read_scenario(parse_yaml("cluster: {node: dgx-h100}\nmodel: " + model +
                                      "\ntraining: {global_batch: 64, micro_batch: 8, sequence: 4096}\n",
                                  "m.yaml"),
                       library);
}

std::string problem(const std::string& model) {
  return complaint([&] { read_model(model); });
}

const std::string kShape = "family: moe, layers: 4, hidden: 256, heads: 4, ffn: 512, vocab: 1000";

TEST(ReadExperts, AreAsWideAsTheFeedForwardBlockUnlessToldOtherwise) {
  const schedules::Model m = read_model("{" + kShape + ", experts: {count: 16, active: 3}}").model;
  EXPECT_EQ(m.experts.ffn, 512);
  EXPECT_EQ(m.experts.shared_ffn, 0);
  EXPECT_EQ(m.latent.kv_rank, 0);
}

TEST(ReadExperts, MissingKeysAreNamed) {
  EXPECT_EQ(problem("{" + kShape + "}"),
            "m.yaml:2:8: model.experts.count: missing, expected a whole number of at least 1");
  EXPECT_EQ(problem("{" + kShape + ", experts: {count: 16}}"),
            "m.yaml:2:79: model.experts.active: missing, expected a whole number of at least 1");
  EXPECT_EQ(problem("{" + kShape + ", experts: {count: 16, active: 3}, latent: {kv_rank: 32, head: 24, value: 16}}"),
            "m.yaml:2:112: model.latent.rotary: missing, expected a whole number of at least 1");
}

TEST(ReadExperts, AreRefusedOfOtherFamilies) {
  EXPECT_EQ(problem("{family: gpt, layers: 4, hidden: 256, heads: 4, vocab: 1000, experts: {count: 4, active: 1}}"),
            "m.yaml:2:69: model.experts: found on family 'gpt', which has none");
}

TEST(ReadExperts, ModelsCanBeCutShort) {
  const schedules::Model m = read_model("{base: deepseek-v3, layers: 4, experts: {dense_layers: 1}}").model;
  EXPECT_EQ(m.layers, 4);
  EXPECT_EQ(m.experts.dense_layers, 1);
  EXPECT_EQ(m.experts.count, 256);
}

}  // namespace
}  // namespace stepcast::language
