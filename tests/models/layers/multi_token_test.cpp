// Layers of multi-token prediction (DeepSeek-V3, arXiv 2412.19437, sec. 2.2).

#include <gtest/gtest.h>

#include <algorithm>

#include "models/layers/model_blocks.h"
#include "models/layers/partition.h"
#include "schedules/checks/check.h"
#include "schedules/forecast.h"
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

TEST(MultiToken, TheStageOfTheFirstHasItsOwnCopyOfTheEmbedding) {
  const Blocks one = blocks(predicting(1)), two = blocks(predicting(2));
  const double words = 129280.0 * 7168, own = 2 * 7168.0 * (7168 + 1);  // the projection and two norms
  EXPECT_EQ(one.tied, words);
  EXPECT_EQ(one.at(tied_place(one)).parameters, words + own);
  EXPECT_EQ(two.at(tied_place(two)).parameters, words + own);
  EXPECT_EQ(two.at(tied_place(two) + 2).parameters, own);  // one serves both
  Model tied = deepseek_v3();
  tied.variations.tied_head = true;  // the head is a copy already
  const Blocks shared = blocks(predicting(1, tied));
  EXPECT_EQ(tied_place(shared), shared.order.size() - 1);
  EXPECT_EQ(shared.at(tied_place(shared) - 3).parameters, own);
}

// Megatron-Core's layout of DeepSeek-V3, "Et*3|(tt|)*29m|L", of which the last two chunks are "m" and "L".
TEST(MultiToken, LayersMayStandOnAStageOfTheirOwn) {
  Scenario s = predicting(1, {"", Family::llama, 6, 2048, 32, 8, 8192, 51200, ""});
  s.cluster = round_numbers(4).cluster;
  s.training.global_batch = 4;
  s.parallelism.pipeline = 4;
  s.parallelism.layers_per_stage = {3, 3, 1, 0};
  ASSERT_TRUE(check(s).empty()) << check(s).front().text;
  const Blocks all = blocks(s);
  const std::vector<BlockRange> chunks = cut(all, share_out(s, all, 4));
  EXPECT_EQ(chunks[1].count, 3u);
  EXPECT_EQ(chunks[2].count, 2u);  // input and layer
  EXPECT_EQ(chunks[3].count, 2u);  // both heads
  EXPECT_EQ(all.at(chunks[2].first).name, "multi-token input");
  EXPECT_EQ(all.at(chunks[2].first + 1).output, 2 * all.at(chunks[1].first).output);
  std::vector<std::vector<BlockRange>> stages;
  for (const BlockRange& chunk : chunks) stages.push_back({chunk});
  EXPECT_EQ(tied_stage(all, stages), 2u);
  EXPECT_FALSE(forecast(s).out_of_memory.has_value());
  s.parallelism.layers_per_stage = {2, 2, 2, 0};  // not counted: behind the last
  EXPECT_EQ(cut(all, share_out(s, all, 4)).back().count, 4u);
  s.parallelism.layers_per_stage = {3, 3, 2, 0};
  ASSERT_FALSE(check(s).empty());
  EXPECT_EQ(check(s).front().text, "found 8 layers, expected the 6 of model.layers, or 7 with model.mtp_layers");
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
