#include "models/layers/encoder_decoder.h"

#include <gtest/gtest.h>

#include "models/layers/model_blocks.h"
#include "schedules/checks/check.h"
#include "schedules/forecast.h"
#include "tests/schedules/scenarios.h"

namespace stepcast::schedules {
namespace {

constexpr double kEncoder = 1024, kDecoder = 256, kHidden = 2048, kHeads = 16;

/// Eight layers a stack.
Scenario t5(std::uint32_t gpus) {
  Scenario s = round_numbers(gpus);
  s.model.family = Family::t5;
  s.model.decoder_layers = 8;
  s.training.decoder_sequence = 256;
  return s;
}

TEST(T5, StagesPassBothStacksOn) {
  Scenario s = t5(4);
  s.parallelism = {.pipeline = 4};
  const Blocks all = blocks(s);
  const std::vector<BlockRange> chunks = cut(all, 4);
  for (std::size_t stage = 0; stage < 3; ++stage)
    EXPECT_DOUBLE_EQ(all.at(chunks[stage].first + chunks[stage].count - 1).output, (kEncoder + kDecoder) * kHidden * 2)
        << stage;
  EXPECT_EQ(all.at(chunks[1].first + chunks[1].count - 1).name, "encoder norm");
  EXPECT_EQ(all.at(chunks[2].first).name, "decoder layer");
}

TEST(T5, EveryChunkOfTheDecoderKeepsTheEncodersOutputOnce) {
  Scenario s = t5(4);
  s.parallelism = {.pipeline = 4};
  const Blocks all = blocks(s);
  const std::vector<BlockRange> chunks = cut(all, 4);
  for (const std::size_t stage : {2u, 3u})
    EXPECT_DOUBLE_EQ(all.at(chunks[stage].first).saved - all.at(chunks[stage].first + 1).saved, kEncoder * kHidden * 2);
}

TEST(T5, DecoderLayerKeepsTheTensorsOfItsThreeParts) {
  // Self-attention 11 d h + 5 a d^2, feed-forward (norm, its output, mask, ReLU's output) 5 d h + 2 d f,
  // cross-attention: norm, its output, mask, queries, projection input 9 d h, keys and values 4 s h, scores 5 a d s.
  const Blocks all = blocks(t5(1));
  const double d = kDecoder, s = kEncoder, h = kHidden, f = 8192, a = kHeads;
  EXPECT_DOUBLE_EQ(all.at(12).saved,
                   (13 * d * h + 5 * a * d * d) + (5 * d * h + 2 * d * f) + (9 * d * h + 4 * s * h + 5 * a * d * s));
}

TEST(T5, CrossAttentionLooksAtAllOfTheEncoderAndSelfAttentionSkipsHalf) {
  Scenario s = t5(1);
  s.training.attention = Attention::flash;
  const Blocks all = blocks(s);
  std::vector<std::pair<double, bool>> found;
  for (const Kernel& op : all.at(12).forward)
    if (const auto* fused = std::get_if<FusedAttention>(&op)) found.emplace_back(fused->flops.value, fused->causal);
  const std::vector<std::pair<double, bool>> expected{{4 * kDecoder * kDecoder * kHidden, true},
                                                      {4 * kDecoder * kEncoder * kHidden, false}};
  EXPECT_EQ(found, expected);
}

TEST(T5, RelativePositionsAreReadBySelfAttentionAlone) {
  const Blocks all = blocks(t5(1));
  int positions = 0;
  for (const Kernel& op : all.at(12).forward)
    if (const auto* kernel = std::get_if<Elementwise>(&op);
        kernel && kernel->kind == OperatorKind::relative_positions) {
      ++positions;
      EXPECT_DOUBLE_EQ(kernel->bytes, 3 * kHeads * kDecoder * kDecoder * 2);  // one sample: scores twice, biases once
    }
  EXPECT_EQ(positions, 1);
}

TEST(T5, FoldedEqualsUnfoldedInEveryCut) {
  for (const std::uint32_t stages : {1u, 2u, 4u}) {
    Scenario s = t5(16);
    s.parallelism = {.tensor = 2, .pipeline = stages, .data = 8 / stages, .sequence = true};
    ASSERT_TRUE(check(s).empty()) << stages;
    EXPECT_EQ(forecast(s).step, forecast(s, {.unfold = true, .trace = false}).step) << stages;
  }
}

TEST(T5, RecomputationKeepsAStacksOwnInputAlone) {
  Scenario s = t5(1);
  s.recompute = Recompute::full;
  const Blocks all = blocks(s);
  EXPECT_DOUBLE_EQ(all.at(1).saved, kEncoder * kHidden * 2);
  EXPECT_DOUBLE_EQ(all.at(12).saved, kDecoder * kHidden * 2);
  EXPECT_EQ(all.at(12).recompute.size(), all.at(12).forward.size());
}

}  // namespace
}  // namespace stepcast::schedules
