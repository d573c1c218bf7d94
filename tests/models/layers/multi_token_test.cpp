// Layers of multi-token prediction (DeepSeek-V3, arXiv 2412.19437, sec. 2.2).

#include <gtest/gtest.h>

#include <algorithm>

#include "models/layers/model_blocks.h"
#include "schedules/checks/check.h"
#include "tests/models/layers/pass_bytes.h"
#include "tests/models/models.h"
#include "tests/schedules/scenarios.h"

namespace stepcast::schedules {
namespace {

Scenario predicting(std::int64_t layers, Model model = deepseek_v3()) {
  Scenario s = round_numbers(1);
  s.model = std::move(model);
  s.model.mtp_layers = layers;
  s.training = {.global_batch = 1, .micro_batch = 1, .sequence = 1024, .precision = Precision::bf16};
  s.training.attention = Attention::flash;
  return s;
}

double parameters_of(const Scenario& s) {
  EXPECT_TRUE(check(s).empty()) << check(s).front().text;
  const Blocks all = blocks(s);
  return parameters(all, cut(all, 1));
}

TEST(MultiToken, ParametersAreThosePublished) {
  // README_WEIGHTS.md of github.com/deepseek-ai/DeepSeek-V3: 11.5 billion of their own, embedding and head shared.
  EXPECT_NEAR(parameters_of(predicting(1)) - parameters_of(predicting(0)), 11.5e9, 0.15e9);
}

TEST(MultiToken, WorkIsThatOfALayerAProjectionAndTheLogitsOnceMore) {
  const double more = model_flops(blocks(predicting(1))).value - model_flops(blocks(predicting(0))).value;
  Scenario longer = predicting(0);
  ++longer.model.layers;
  const double layer = model_flops(blocks(longer)).value - model_flops(blocks(predicting(0))).value;
  const double tokens = 1024, hidden = 7168, vocab = 129280;
  EXPECT_DOUBLE_EQ(more, layer + 6 * tokens * hidden * (vocab + 2 * hidden));
}

TEST(MultiToken, LayersStandBehindTheLastOneAndNoStagesShareCountsThem) {
  const Blocks all = blocks(predicting(2));
  EXPECT_EQ(count_layers(all), 61u);
  EXPECT_EQ(std::ranges::count_if(all.order, [&](std::uint32_t kind) { return all.kinds[kind].extra_layer; }), 2);
  const auto chunks = cut(all, 61);
  EXPECT_EQ(chunks.back().count, 1 + 2 * 3 + 1u);  // its layer; input, layer and head of each; the head
  EXPECT_EQ(all.at(static_cast<std::uint32_t>(all.order.size() - 1)).name, "head");
}

TEST(MultiToken, TheLastStageHasItsOwnCopyOfTheEmbedding) {
  const Scenario s = predicting(1);
  const Blocks all = blocks(s), without = blocks(predicting(0));
  const double words = 129280.0 * 7168;
  EXPECT_EQ(all.tied, words);
  const auto head = [](const Blocks& b) { return b.at(static_cast<std::uint32_t>(b.order.size() - 1)).parameters; };
  EXPECT_EQ(head(all), head(without) + words);
  Model tied = deepseek_v3();
  tied.variations.tied_head = true;  // it has one already
  EXPECT_EQ(head(blocks(predicting(1, tied))), head(blocks(predicting(0, tied))));
}

TEST(MultiToken, RanksShareTheProjection) {
  Scenario one = predicting(1, {"", Family::llama, 4, 2048, 32, 8, 8192, 51200, ""}), two = one;
  two.parallelism.tensor = 2;
  EXPECT_NEAR(model_flops(blocks(two)).value * 2 / model_flops(blocks(one)).value, 1, 1e-12);
}

// Megatron Core's projection makes all tokens of its columns, which all ranks gather; each keeps its own tokens.
TEST(MultiToken, RanksThatShareTheSequenceGatherTheGradientsBeforeTheProjection) {
  Scenario s = predicting(1, {"", Family::llama, 4, 2048, 32, 8, 8192, 51200, ""});
  s.parallelism.tensor = 4;
  const auto gathered = [&] {
    const Blocks all = blocks(s);
    return gathered_bytes(std::ranges::find(all.kinds, "multi-token input", &Block::name)->backward);
  };
  EXPECT_EQ(gathered(), 0);
  s.parallelism.sequence = true;
  // Of the embedding's gradients, of the projection's output, and both of its inputs once more.
  EXPECT_EQ(gathered(), (1 + 1 + 2) * 1024 * 2048 * 2);
}

TEST(MultiToken, InLowPrecisionIsALayerLikeTheOthers) {
  Scenario s = predicting(1);
  s.training.precision = Precision::fp8;
  const Blocks all = blocks(s);
  for (const Block& block : all.kinds) {
    const bool low = std::ranges::any_of(block.forward, [](const Kernel& kernel) {
      const auto* gemm = std::get_if<Gemm>(&kernel);
      return gemm != nullptr && gemm->low_precision;
    });
    EXPECT_EQ(low, block.layer || block.extra_layer) << block.name;
  }
}

TEST(MultiToken, GoesWithNeitherGridsNorANarrowEmbedding) {
  Scenario grid = predicting(1, {"", Family::llama, 4, 2048, 32, 8, 8192, 51200, ""});
  grid.model.variations.embedding_width = 512;
  ASSERT_FALSE(check(grid).empty());
  EXPECT_EQ(check(grid).front().key, "model.mtp_layers");
}

}  // namespace
}  // namespace stepcast::schedules
