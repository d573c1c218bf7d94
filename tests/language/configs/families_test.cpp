// Keys that only some families of models have.

#include <gtest/gtest.h>

#include "language/scenario.h"
#include "tests/language/fixtures.h"

namespace stepcast::language {
namespace {

schedules::Scenario with(const std::string& model, const std::string& training) {
  Library library = configs();
  return read_scenario(parse_yaml("cluster: {node: dgx-1-v100-16gb}\nmodel: {" + model +
                                      "}\ntraining: {global_batch: 8, micro_batch: 1" + training + "}",
                                  "m.yaml"),
                       library);
}

std::string problem(const std::string& model, const std::string& training) {
  return complaint([&] { with(model, training); });
}

constexpr const char* kShape = "layers: 6, hidden: 64, heads: 4";

std::string shape(const std::string& family, const std::string& more) {
  return "family: " + family + ", " + kShape + more;
}

TEST(ReadFamilies, BertHasPositionsAndPredictions) {
  const auto s = with(shape("bert", ", vocab: 100, positions: 512"), ", sequence: 128, predictions: 20");
  EXPECT_EQ(s.model.positions, 512);
  EXPECT_EQ(s.model.ffn, 256);
  EXPECT_EQ(s.training.predictions, 20);
}

TEST(ReadFamilies, T5HasTwoStacks) {
  const auto s = with(shape("t5", ", ffn: 99, vocab: 100, decoder_layers: 2, gated: true"),
                      ", sequence: 128, decoder_sequence: 32");
  EXPECT_EQ(s.model.layers, 8);
  EXPECT_EQ(s.model.decoder_layers, 2);
  EXPECT_TRUE(s.model.gated);
  EXPECT_EQ(s.training.decoder_sequence, 32);
  const auto symmetric = with(shape("t5", ", ffn: 99, vocab: 100"), ", sequence: 128");
  EXPECT_EQ(symmetric.model.decoder_layers, 6);
  EXPECT_EQ(symmetric.training.decoder_sequence, 128);
}

TEST(ReadFamilies, VitHasPatchesAndClasses) {
  const auto s = with(shape("vit", ", image: {size: 32}, patch: 8, classes: 10"), "");
  EXPECT_EQ(schedules::patches(s.model), 16);
  EXPECT_EQ(s.model.classes, 10);
}

TEST(ReadFamilies, RefuseWhatTheyHaveNot) {
  EXPECT_EQ(problem(shape("gpt", ", vocab: 8"), ", sequence: 8, decoder_sequence: 8"),
            "m.yaml:3:76: training.decoder_sequence: found on a model without a decoder, expected family t5");
  EXPECT_EQ(problem(shape("gpt", ", vocab: 8"), ", sequence: 8, predictions: 8"),
            "m.yaml:3:71: training.predictions: found on a model that predicts every token, expected family bert");
  EXPECT_EQ(problem(shape("bert", ", vocab: 8, qk_norm: true"), ", sequence: 8"),
            "m.yaml:2:66: model.qk_norm: found on family 'bert', which has none");
  EXPECT_EQ(
      problem(shape("gpt", ", vocab: 8, position_encoding: rotary, positions: 8"), ", sequence: 8"),
      "m.yaml:2:103: model.positions: found on a model that learns no positions, expected position_encoding learned "
      "with it");
  EXPECT_EQ(problem(shape("bert", ", vocab: 8, patch: 4"), ", sequence: 8"),
            "m.yaml:2:66: model.patch: found on family 'bert', which has none");
  EXPECT_EQ(problem(shape("t5", ", vocab: 8"), ", sequence: 8"),
            "m.yaml:2:8: model.ffn: missing, expected a whole number of at least 1 (only gpt, bert and vit have a "
            "default)");
  EXPECT_EQ(problem(shape("vit", ", image: {size: 30}, patch: 8, classes: 10"), ""),
            "m.yaml:2:81: model.patch: patch 8 does not divide image.size 30");
  EXPECT_EQ(problem(shape("vit", ", image: {size: 32}, patch: 8, classes: 10"), ", sequence: 8"),
            "m.yaml:3:55: training.sequence: found a sequence, but samples of this model have no tokens");
}

}  // namespace
}  // namespace stepcast::language
