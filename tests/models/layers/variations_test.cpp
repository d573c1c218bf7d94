// What a model may have otherwise than its family.

#include <gtest/gtest.h>

#include <algorithm>

#include "models/layers/blocks.h"
#include "models/layers/model_blocks.h"
#include "schedules/checks/check.h"
#include "tests/schedules/scenarios.h"

namespace stepcast::schedules {
namespace {

constexpr double kVariedHidden = 2048, kVariedVocab = 51200, kVariedTokens = 1024, kVariedElement = 2,
                 kVariedLayers = 4;

Scenario with_variations(Family family, const Variations& variations, Attention attention = Attention::flash) {
  Scenario s = round_numbers(1);
  s.model = {"varied", family, 4, 2048, 32, 8, 8192, 51200, ""};
  s.model.variations = variations;
  s.training = {.global_batch = 1, .micro_batch = 1, .sequence = 1024, .precision = Precision::bf16};
  s.training.attention = attention;
  return s;
}

double parameters_varied(const Scenario& s) {
  EXPECT_TRUE(check(s).empty()) << check(s).front().text;
  const Blocks all = blocks(s);
  return parameters(all, cut(all, 1));
}

bool does(const Kernels& pass, OperatorKind what) {
  return std::ranges::any_of(pass, [&](const Kernel& kernel) { return kind(kernel) == what; });
}

TEST(Variations, OfParametersAreCounted) {
  const double llama = parameters_varied(with_variations(Family::llama, {})),
               gpt = parameters_varied(with_variations(Family::gpt, {}));
  EXPECT_EQ(llama - parameters_varied(with_variations(Family::llama, {.tied_head = true})),
            kVariedVocab * kVariedHidden);
  EXPECT_EQ(parameters_varied(with_variations(Family::gpt, {.tied_head = false})) - gpt, kVariedVocab * kVariedHidden);
  const double keys_values = 2 * 8 * 64, width = 64;
  EXPECT_EQ(parameters_varied(with_variations(Family::llama, {.qkv_bias = true})) - llama,
            kVariedLayers * (kVariedHidden + keys_values));
  EXPECT_EQ(parameters_varied(with_variations(Family::llama, {.qk_norm = QueryKeyNorm::each_head})) - llama,
            kVariedLayers * 2 * width);
  EXPECT_EQ(gpt - parameters_varied(with_variations(Family::gpt, {.biases = Biases::none})),
            kVariedLayers * (kVariedHidden + keys_values + kVariedHidden + 8192 + kVariedHidden));
  EXPECT_EQ(gpt - parameters_varied(with_variations(Family::gpt, {.positions = Positions::alibi})),
            kVariedTokens * kVariedHidden);
  EXPECT_EQ(parameters_varied(with_variations(Family::gpt, {.embedding_norm = true})) - gpt, 2 * kVariedHidden);
  EXPECT_EQ(gpt - parameters_varied(with_variations(Family::gpt, {.final_norm = false})), 2 * kVariedHidden);
  // A second norm in each half, norms with their offsets as well or with nothing, and a bias of the logits.
  EXPECT_EQ(parameters_varied(with_variations(Family::llama, {.post_norms = true})) - llama,
            kVariedLayers * 2 * kVariedHidden);
  EXPECT_EQ(parameters_varied(with_variations(Family::llama, {.norm_parameters = 2})) - llama,
            (2 * kVariedLayers + 1) * kVariedHidden);
  EXPECT_EQ(gpt - parameters_varied(with_variations(Family::gpt, {.norm_parameters = 0})),
            (2 * kVariedLayers + 1) * 2 * kVariedHidden);
  EXPECT_EQ(parameters_varied(with_variations(Family::gpt, {.head_bias = true})) - gpt, kVariedVocab);
  // One norm of all heads' queries, one of all keys.
  EXPECT_EQ(parameters_varied(with_variations(Family::llama, {.qk_norm = QueryKeyNorm::all_heads})) - llama,
            kVariedLayers * (kVariedHidden + keys_values / 2));
  // Half of a layer's biases: of queries, keys, values and their projection, or of gate, input and output.
  EXPECT_EQ(parameters_varied(with_variations(Family::llama, {.biases = Biases::attention})) - llama,
            kVariedLayers * (kVariedHidden + keys_values + kVariedHidden));
  EXPECT_EQ(parameters_varied(with_variations(Family::gpt, {.biases = Biases::feed_forward})) +
                kVariedLayers * (2 * kVariedHidden + keys_values),
            gpt);
  // The vocabulary's matrix is narrower, and projected to and from the layers' width.
  EXPECT_EQ(gpt - parameters_varied(with_variations(Family::gpt, {.embedding_width = 512})),
            kVariedVocab * (kVariedHidden - 512) - 2 * 512 * kVariedHidden);
}

TEST(Variations, QueryAndKeyNormsKeepTheirInput) {
  const Block plain = blocks(with_variations(Family::llama, {})).kinds[1],
              normed = blocks(with_variations(Family::llama, {.qk_norm = QueryKeyNorm::each_head})).kinds[1];
  EXPECT_DOUBLE_EQ(normed.saved - plain.saved, kVariedTokens * (kVariedHidden + 8 * 64) * kVariedElement);
  EXPECT_TRUE(does(normed.forward, OperatorKind::query_key_norm));
  EXPECT_TRUE(does(normed.backward, OperatorKind::query_key_norm));
}

// A fused core adds ALiBi's slopes as it goes (FlashAttention 2.4); unfused scores are read and written once more.
TEST(Variations, AlibiCostsOnlyWhereScoresAreWritten) {
  const auto forward = [](Attention attention) {
    return blocks(with_variations(Family::gpt, {.positions = Positions::alibi}, attention)).kinds[1].forward;
  };
  EXPECT_FALSE(does(forward(Attention::flash), OperatorKind::alibi));
  EXPECT_TRUE(does(forward(Attention::unfused), OperatorKind::alibi));
}

TEST(Variations, ANarrowVocabularyIsProjected) {
  const Blocks all = blocks(with_variations(Family::gpt, {.embedding_width = 512}));
  EXPECT_TRUE(does(all.kinds[0].forward, OperatorKind::embedding_projection));
  for (const Kernel& op : all.kinds[2].forward)
    if (const auto* gemm = std::get_if<Gemm>(&op); gemm != nullptr && gemm->kind == OperatorKind::logits) {
      EXPECT_EQ(gemm->shape.k, 512);
    }
  Scenario split = with_variations(Family::gpt, {.embedding_width = 512});
  split.cluster.gpus = split.parallelism.tensor = 2;
  ASSERT_FALSE(check(split).empty());
  EXPECT_EQ(check(split).front().key, "model.embedding_width");
}

/// Multiplies of attention that a step of this model runs, of those of all layers without a window.
double attended(const Variations& variations) {
  const auto executed = [](const Scenario& s) {
    const Blocks all = blocks(s);
    double flops = 0;
    for (const std::uint32_t kind : all.order)
      for (const Kernel& kernel : all.kinds[kind].forward)
        if (const auto* fused = std::get_if<FusedAttention>(&kernel)) flops += fused->flops.value * fused->seen();
    return flops;
  };
  return executed(with_variations(Family::llama, variations)) / executed(with_variations(Family::llama, {}));
}

TEST(Variations, WindowsSkipWhatIsOutsideOfThem) {
  constexpr auto kWindow = static_cast<std::int64_t>(kVariedTokens / 4);
  // A band of w below the diagonal of s x s: s w - w^2 / 2 of s^2 / 2. Or s / w triangles of w^2 / 2.
  EXPECT_DOUBLE_EQ(attended({.window = kWindow}), 2.0 / 4 - 1.0 / 16);
  EXPECT_DOUBLE_EQ(attended({.window = kWindow, .window_in_chunks = true}), 1.0 / 4);
  EXPECT_DOUBLE_EQ(attended({.window = 100'000}), 1);
  // Of every second layer.
  EXPECT_DOUBLE_EQ(attended({.window = kWindow, .full_attention_every = 2}), (1 + 2.0 / 4 - 1.0 / 16) / 2);
}

TEST(Variations, LayersWithExpertsAndWindowsStandInTheirOrder) {
  Scenario s = with_variations(Family::moe, {.window = 64, .full_attention_every = 4});
  s.model.layers = 8;
  s.model.experts = {.count = 8, .active = 2, .ffn = 512, .dense_layers = 1, .every = 2};
  const Blocks all = blocks(s);
  ASSERT_EQ(all.order.size(), 10u);
  for (std::size_t layer = 0; layer < 8; ++layer) {
    const Block& block = all.kinds[all.order[layer + 1]];
    EXPECT_EQ(block.name, "layer");
    EXPECT_EQ(does(block.forward, OperatorKind::router), layer % 2 == 1) << layer;
    for (const Kernel& kernel : block.forward)
      if (const auto* fused = std::get_if<FusedAttention>(&kernel)) {
        EXPECT_EQ(fused->window < 1, layer % 4 != 3) << layer;
      }
  }
}

}  // namespace
}  // namespace stepcast::schedules
