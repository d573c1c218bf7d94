#include "scenario/model.h"

#include <gtest/gtest.h>

#include "models/layers/blocks.h"
#include "models/layers/model_blocks.h"
#include "tests/schedules/scenarios.h"

namespace stepcast::schedules {
namespace {

Model gpt(std::int64_t layers, std::int64_t hidden, std::int64_t heads) {
  return {"", Family::gpt, layers, hidden, heads, heads, 4 * hidden, 51200, ""};
}

Scenario on_one_gpu(Model model, std::int64_t sequence, std::int64_t samples = 1) {
  Scenario s = round_numbers(1);
  s.model = std::move(model);
  s.training.sequence = sequence;
  s.training.micro_batch = s.training.global_batch = samples;
  return s;
}

double parameters(const Model& model, std::int64_t sequence) {
  const Blocks all = blocks(on_one_gpu(model, sequence));
  return parameters(all, cut(all, 1));
}

TEST(Parameters, MatchNarayanan2021Equation2) {
  // P = 12 l h^2 (1 + 13/(12 h) + (V + s)/(12 l h)), plus the last norm's 2 h that the paper leaves out.
  for (const auto& [layers, hidden, heads] : {std::tuple{24, 2304, 24}, {96, 12288, 96}, {128, 25600, 160}}) {
    const double l = layers, h = hidden;
    const double published = 12 * l * h * h * (1 + 13 / (12 * h) + (51200 + 2048) / (12 * l * h));
    EXPECT_NEAR(parameters(gpt(layers, hidden, heads), 2048), published + 2 * h, 1.0);
  }
}

TEST(Parameters, OfLlamaMatchThePublishedCounts) {
  // Released checkpoints: 6,738,415,616; 68,976,648,192; 8,030,261,248; 70,553,706,496.
  EXPECT_EQ(parameters({"", Family::llama, 32, 4096, 32, 32, 11008, 32000, ""}, 4096), 6738415616.0);
  EXPECT_EQ(parameters({"", Family::llama, 80, 8192, 64, 8, 28672, 32000, ""}, 4096), 68976648192.0);
  EXPECT_EQ(parameters({"", Family::llama, 32, 4096, 32, 8, 14336, 128256, ""}, 8192), 8030261248.0);
  EXPECT_EQ(parameters({"", Family::llama, 80, 8192, 64, 8, 28672, 128256, ""}, 8192), 70553706496.0);
}

TEST(VocabRows, ArePaddedWhereTheVocabularyDoesNotDivideByRanksAndTheStacksMultiple) {
  Model m = gpt(2, 64, 2);
  EXPECT_EQ(vocab_rows(m, 8), 6400);
  m.vocab = 50257;  // GPT-2's; Megatron-LM pads it to 50304 for one rank of 128, to 51200 for eight
  EXPECT_EQ(vocab_rows(m, 1), 50257);
  EXPECT_EQ(vocab_rows(m, 2), 50432 / 2);
  EXPECT_EQ(vocab_rows(m, 8), 51200 / 8);
  EXPECT_EQ(vocab_rows(m, 1, 128), 50304);
  EXPECT_EQ(vocab_rows(m, 8, 128), 51200 / 8);
  m.vocab = 30522;  // BERT's; NVIDIA's scripts pad it to 30528
  EXPECT_EQ(vocab_rows(m, 1, 8), 30528);
}

TEST(ModelFlops, AreNarayanan2021Equation3WithoutRecomputation) {
  for (const auto& [layers, hidden, heads, batch] : {std::tuple{24, 2304, 24, 512}, {96, 12288, 96, 1536}}) {
    const double l = layers, h = hidden, B = batch, s = 2048, V = 51200;
    const double with_recomputation = 96 * B * s * l * h * h * (1 + s / (6 * h) + V / (16 * l * h));
    // Eq. 3 counts 8 BslH(...) for layers (forward twice, backward) and 6 BshV for the logits.
    const double logits = 6 * B * s * h * V;
    const double expected = (with_recomputation - logits) * 3 / 4 + logits;
    const Blocks all = blocks(on_one_gpu(gpt(layers, hidden, heads), 2048, batch));
    EXPECT_NEAR(model_flops(all).value / expected, 1.0, 1e-12);
  }
}

}  // namespace
}  // namespace stepcast::schedules
