#include "models/layers/fusion.h"

#include <gtest/gtest.h>

#include "models/layers/model_blocks.h"
#include "schedules/forecast.h"
#include "tests/schedules/scenarios.h"

namespace stepcast::schedules {
namespace {

Scenario with(Fusion fusion, Attention attention = Attention::unfused) {
  Scenario s = round_numbers(1);
  s.training.attention = attention;
  s.training.fusion = fusion;
  s.software = with_fusion(s.software, fusion);
  return s;
}

TEST(Fusion, SavesTheLaunchesAndTheTrafficOfItsChains) {
  // A layer's forward and backward: softmax 3 + 3 launches and (6 + 5) elements of the scores; bias and GELU 3 + 3 and
  // (6 + 6) of the inner width; bias, dropout and residual twice 2 and 4 of the residual. Once the loss: 5 + 1
  // launches, 38 + 10 bytes of each logit become 2 + 4.
  const double tokens = 1024, h = 2048, f = 8192, scores = 16 * tokens * tokens, layers = 16, V = 51200;
  const FusionSaving saving = forecast(with(Fusion::all)).fusion.value();
  EXPECT_DOUBLE_EQ(saving.launches, layers * (6 + 6 + 4) + 6);
  const double logits = (2 + 4 + 4 + 8 + 8 + 4 + 8 - 2) + (8 + 4 + 2 - 4);
  EXPECT_DOUBLE_EQ(saving.bytes,
                   layers * 2 * (scores * 11 + tokens * f * 12 + 2 * tokens * h * 4) + tokens * V * logits);
}

TEST(Fusion, IsFasterAndKeepsNoMoreActivations) {
  const Forecast all = forecast(with(Fusion::all)), none = forecast(with(Fusion::none));
  EXPECT_LT(all.step, none.step);
  EXPECT_EQ(none.fusion->launches, 0);
  EXPECT_EQ(all.fusion->launches_unfused, none.fusion->launches_unfused);
  EXPECT_LE(all.stages.at(0).memory.activations, none.stages.at(0).memory.activations);
}

TEST(CompositeOperators, MoveWhatEachOfTheirKernelsMoves) {
  Scenario s = round_numbers(1);
  s.model = {"", Family::llama, 16, 2048, 16, 8, 8192, 51200, ""};
  s.training.attention = Attention::flash;
  const KernelTraffic fused = kernel_traffic(blocks(s));
  s.software.composite_operators = true;
  const KernelTraffic composite = kernel_traffic(blocks(s));
  // Bytes of an element of 2, forward and backward: RMSNorm 36 and 84, one kernel 4 and 10; positions 20 and 20, of
  // queries and keys, where one kernel takes values along at 4 and 4; gates 10 and 18, 6 and 10.
  const double tokens = 1024, norms = 2 * 16 + 1, positions = 16 * (3072 * 40 - 4096 * 8), gates = 16 * 8192 * 12;
  EXPECT_DOUBLE_EQ(composite.bytes - fused.bytes, tokens * (norms * 2048 * 106 + positions + gates));
  EXPECT_EQ(composite.launches - fused.launches, norms * (7 + 14) + 16 * (4 + 4) + 16 * (1 + 2));
}

Scenario fused_llama() {
  Scenario s = round_numbers(1);
  s.model = {"", Family::llama, 16, 2048, 16, 8, 8192, 51200, ""};
  s.training.attention = Attention::flash;
  return s;
}

// torch.nn.functional.silu(gate) * up: the product keeps what SiLU wrote, beside the gate, the ups and, for the
// multiply behind it, itself.
TEST(GatedActivation, OfTwoKernelsKeepsWhatLiesBetweenThem) {
  Scenario s = fused_llama();
  const Blocks fused = blocks(s);
  s.software.fused_bias_gelu = false;
  const Blocks apart = blocks(s);
  const double inner = 1024.0 * 8192 * 2;
  EXPECT_DOUBLE_EQ(apart.at(1).saved - fused.at(1).saved, inner);
}

// Beside that, eager PyTorch keeps the input of both of a layer's norms in fp32.
TEST(CompositeOperators, KeepWhatEachOfTheirKernelsNeedsBack) {
  Scenario s = fused_llama();
  const Blocks fused = blocks(s);
  s.software.composite_operators = true;
  const Blocks composite = blocks(s);
  const double gates = 1024.0 * 8192 * 2, norm = 1024.0 * 2048 * 4;
  EXPECT_DOUBLE_EQ(composite.at(1).saved - fused.at(1).saved, gates + 2 * norm);
  EXPECT_DOUBLE_EQ(composite.kinds.back().saved + composite.kinds.back().saved_by_loss - fused.kinds.back().saved -
                       fused.kinds.back().saved_by_loss,
                   norm);
  s.recompute = Recompute::full;
  EXPECT_DOUBLE_EQ(blocks(s).at(1).saved, 1024.0 * 2048 * 2) << "the layer's input alone";
}

TEST(FlashAttention, NeverHasTheScoresInMemory) {
  // Both traffic and what is kept: 5as^2 b less to keep but a float a row; the scores' elementwise kernels are gone.
  const Blocks flash = blocks(with(Fusion::all, Attention::flash)), unfused = blocks(with(Fusion::all));
  const double scores = 16.0 * 1024 * 1024;
  EXPECT_DOUBLE_EQ(unfused.at(1).saved - flash.at(1).saved, 5 * scores - 16 * 1024 * 4);
  const double kernels = 2 * (2 + 3) + 2 * (2 * 2 + 1), heads_to_tokens_and_back = 2 * 1024 * 2048 * 2 * 2;
  EXPECT_DOUBLE_EQ(kernel_traffic(unfused).bytes - kernel_traffic(flash).bytes,
                   16 * (scores * kernels + heads_to_tokens_and_back));
}

}  // namespace
}  // namespace stepcast::schedules
