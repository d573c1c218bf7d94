#include "models/layers/low_precision.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "models/cost/kernel_time.h"
#include "models/layers/model_blocks.h"
#include "schedules/checks/check.h"
#include "schedules/forecast.h"
#include "tests/models/layers/first_layer.h"
#include "tests/models/layers/pass_bytes.h"
#include "tests/models/models.h"
#include "tests/schedules/scenarios.h"

namespace stepcast::schedules {
namespace {

constexpr double kLowPrecisionHidden = 2048, kLowPrecisionTokens = 1024;
constexpr double kNvfp4 = 0.5 + 1.0 / 16;  ///< bytes of 4 bits and of their share of a scale for 16

/// Dropout and biases away, attention in one kernel, one micro-batch of one sample.
Scenario small_in(Precision precision, std::uint32_t capability = 90, std::uint32_t tensor = 1) {
  Scenario s = round_numbers(tensor);
  s.cluster.gpu.peak[Precision::fp8] = s.cluster.gpu.peak[Precision::mxfp8] = {600e12};
  s.cluster.gpu.peak[Precision::nvfp4] = {1200e12};
  s.cluster.gpu.compute_capability = capability;
  s.parallelism.tensor = tensor;
  s.parallelism.sequence = tensor > 1;
  s.training.precision = precision;
  s.training.global_batch = 1;
  s.training.attention = Attention::flash;
  s.software.biases = s.software.dropout = false;
  return s;
}

/// How often tensor ranks look for a largest number together.
std::ptrdiff_t agreements(const Kernels& pass, Bytes each) {
  return std::ranges::count_if(pass, [&](const Kernel& op) {
    const auto* c = std::get_if<TensorCollective>(&op);
    return c != nullptr && c->operation == collectives::Operation::all_reduce && c->bytes == each;
  });
}

TEST(LowPrecision, LinearMultipliesHaveThemAttentionAndHeadDoNot) {
  Scenario s = small_in(Precision::fp8);
  s.training.attention = Attention::unfused;
  const Blocks all = blocks(s);
  for (const Block& block : all.kinds)
    for (const Kernels* pass : {&block.forward, &block.backward})
      for (const Kernel& op : *pass)
        if (const auto* gemm = std::get_if<Gemm>(&op)) {
          const bool linear = block.layer && gemm->kind != OperatorKind::attention_scores &&
                              gemm->kind != OperatorKind::attention_values;
          EXPECT_EQ(gemm->low_precision, linear) << name(gemm->kind);
          EXPECT_EQ(gemm->shape.input_bytes, linear ? 1 : 2) << name(gemm->kind);
        }
  EXPECT_EQ(low_precision_weights(first_layer(s)), 12 * kLowPrecisionHidden * kLowPrecisionHidden);
}

TEST(LowPrecision, ExpertsHaveThemTheirRouterDoesNot) {
  Scenario s = small_in(Precision::fp8);
  s.model = small_experts();
  std::map<bool, int> multiplies;
  const Block layer = first_layer(s);
  for (const Kernels* pass : {&layer.forward, &layer.backward})
    for (const Kernel& op : *pass)
      if (const auto* gemm = std::get_if<Gemm>(&op)) {
        EXPECT_EQ(gemm->low_precision, gemm->linear) << name(gemm->kind);
        ++multiplies[gemm->low_precision];
      }
  // Three multiplies of the router; of attention's two weights, and of the experts' and shared experts' two each.
  EXPECT_EQ(multiplies, (std::map<bool, int>{{false, 3}, {true, 3 * 6}}));
}

/// Inputs of the four multiplies forward: h, h, h and 4h wide; gradients of their outputs: 3h, h, 4h, h.
TEST(LowPrecision, HopperCastsWhatEntersAMultiplyTwice) {
  const Block hopper = first_layer(small_in(Precision::fp8, 90)),
              blackwell = first_layer(small_in(Precision::fp8, 100));
  EXPECT_EQ(touched_bytes(hopper.forward, OperatorKind::cast), 7 * kLowPrecisionTokens * kLowPrecisionHidden * (2 + 2));
  EXPECT_EQ(touched_bytes(hopper.backward, OperatorKind::cast),
            9 * kLowPrecisionTokens * kLowPrecisionHidden * (2 + 2));
  EXPECT_EQ(touched_bytes(blackwell.forward, OperatorKind::cast),
            7 * kLowPrecisionTokens * kLowPrecisionHidden * (2 + 1));
  EXPECT_EQ(touched_bytes(blackwell.backward, OperatorKind::cast),
            9 * kLowPrecisionTokens * kLowPrecisionHidden * (2 + 1));
  EXPECT_EQ(touched_bytes(hopper.forward, OperatorKind::weight_cast),
            12 * kLowPrecisionHidden * kLowPrecisionHidden * (2 + 2));
}

TEST(LowPrecision, OneScaleForEach32NumbersTakesBothCopiesOnAnyGpu) {
  const Block blocks_of_32 = first_layer(small_in(Precision::mxfp8, 100));
  EXPECT_EQ(touched_bytes(blocks_of_32.forward, OperatorKind::cast),
            7 * kLowPrecisionTokens * kLowPrecisionHidden * (2 + 2));
}

TEST(LowPrecision, Nvfp4ReadsATensorForItsLargestNumberAndForBothCasts) {
  Scenario s = small_in(Precision::nvfp4, 100);
  const double norm = touched_bytes(first_layer(s).forward, OperatorKind::layer_norm);
  s.software.fused_quantization = true;  // of no use: the columns' largest number is known after their transform
  const Block layer = first_layer(s);
  EXPECT_EQ(touched_bytes(layer.forward, OperatorKind::cast),
            7 * kLowPrecisionTokens * kLowPrecisionHidden * (2 + 2 + 2 * kNvfp4));
  EXPECT_EQ(touched_bytes(layer.backward, OperatorKind::cast),
            9 * kLowPrecisionTokens * kLowPrecisionHidden * (2 + 2 + 2 * kNvfp4));
  EXPECT_EQ(touched_bytes(layer.forward, OperatorKind::weight_cast),
            12 * kLowPrecisionHidden * kLowPrecisionHidden * (2 + 2 + 2 * kNvfp4));
  EXPECT_EQ(touched_bytes(layer.forward, OperatorKind::layer_norm), norm);
  for (const Kernel& op : layer.forward)
    if (const auto* gemm = std::get_if<Gemm>(&op)) {
      EXPECT_EQ(gemm->shape.input_bytes, kNvfp4) << name(gemm->kind);
    }
}

TEST(LowPrecision, WeightsAreCastOnceAStep) {
  Scenario s = small_in(Precision::fp8);
  s.training.global_batch = 8;
  EXPECT_EQ(touched_bytes(first_layer(s).forward, OperatorKind::weight_cast),
            12 * kLowPrecisionHidden * kLowPrecisionHidden * (2 + 2) / 8);
  s.training.eight_bit_parameters = true;
  EXPECT_EQ(touched_bytes(first_layer(s).forward, OperatorKind::weight_cast), 0);
}

TEST(LowPrecision, AScaleOfTheTensorAtHandReadsItFirst) {
  Scenario s = small_in(Precision::fp8);
  s.training.scaling = Scaling::current;
  EXPECT_EQ(touched_bytes(first_layer(s).forward, OperatorKind::cast),
            7 * kLowPrecisionTokens * kLowPrecisionHidden * (2 + 2 + 2));
}

TEST(LowPrecision, AFusedNormCastsItself) {
  Scenario s = small_in(Precision::fp8, 100);
  const double norm = touched_bytes(first_layer(s).forward, OperatorKind::layer_norm);
  s.software.fused_quantization = true;
  const Block fused = first_layer(s);
  EXPECT_EQ(touched_bytes(fused.forward, OperatorKind::cast), 5 * kLowPrecisionTokens * kLowPrecisionHidden * (2 + 1));
  EXPECT_EQ(touched_bytes(fused.forward, OperatorKind::layer_norm),
            norm - 2 * kLowPrecisionTokens * kLowPrecisionHidden);  // two norms write one byte less
}

TEST(LowPrecision, SequenceParallelRanksGatherThem) {
  const Block plain = first_layer(small_in(Precision::bf16, 100, 4));
  for (const std::uint32_t capability : {90u, 100u}) {
    const Block low = first_layer(small_in(Precision::fp8, capability, 4));
    EXPECT_EQ(2 * gathered_bytes(low.forward), gathered_bytes(plain.forward));
    EXPECT_EQ(2 * gathered_bytes(low.backward), gathered_bytes(plain.backward));
    // Hopper turns rows into columns: two inputs and two gradients of outputs.
    EXPECT_EQ(touched_bytes(low.backward, OperatorKind::cast_transpose),
              capability == 90 ? 4 * 2 * kLowPrecisionTokens * kLowPrecisionHidden : 0);
  }
  // Rows and columns of the gradients of outputs; columns of the inputs.
  EXPECT_EQ(gathered_bytes(first_layer(small_in(Precision::mxfp8, 100, 4)).backward),
            gathered_bytes(plain.backward) * 3 / 4);
}

TEST(LowPrecision, Nvfp4RanksAgreeOnAScaleAndGatherRowsAndColumns) {
  const Block plain = first_layer(small_in(Precision::bf16, 100, 4)),
              low = first_layer(small_in(Precision::nvfp4, 100, 4));
  EXPECT_EQ(gathered_bytes(low.forward), gathered_bytes(plain.forward) * kNvfp4 / 2);
  // Columns of two inputs, rows and columns of two gradients of outputs.
  EXPECT_EQ(gathered_bytes(low.backward), gathered_bytes(plain.backward) * kNvfp4 / 2 * (1 + 1 + 2 + 2) / 4);
  EXPECT_EQ(touched_bytes(low.backward, OperatorKind::cast_transpose),
            4 * 2 * kNvfp4 * kLowPrecisionTokens * kLowPrecisionHidden);
  EXPECT_EQ(agreements(low.forward, Bytes{8}), 2);  // what is gathered forward is cast once
  EXPECT_EQ(agreements(low.backward, Bytes{8}), 2);
  EXPECT_EQ(agreements(first_layer(small_in(Precision::mxfp8, 100, 4)).forward, Bytes{8}), 0);
}

TEST(LowPrecision, RanksAgreeOnTheScaleOfTheTensorAtHand) {
  Scenario s = small_in(Precision::fp8, 90, 4);
  EXPECT_EQ(agreements(first_layer(s).forward, Bytes{4}), 0);  // the scale is of tensors before
  s.training.scaling = Scaling::current;
  EXPECT_EQ(agreements(first_layer(s).forward, Bytes{4}), 2);
  EXPECT_EQ(agreements(first_layer(s).backward, Bytes{4}), 2);
  EXPECT_EQ(agreements(first_layer(small_in(Precision::fp8, 90, 1)).forward, Bytes{4}), 0);
}

TEST(LowPrecision, KeptInputsAreTurnedIntoColumnsInBackward) {
  Scenario s = small_in(Precision::fp8, 90, 4);
  s.software.gather_inputs_again = false;
  EXPECT_EQ(touched_bytes(first_layer(s).backward, OperatorKind::cast_transpose),
            4 * 2 * kLowPrecisionTokens * kLowPrecisionHidden);
  EXPECT_EQ(touched_bytes(first_layer(s).forward, OperatorKind::cast_transpose), 0);
  s.cluster.gpu.compute_capability = 100;
  EXPECT_EQ(touched_bytes(first_layer(s).backward, OperatorKind::cast_transpose), 0);
}

TEST(LowPrecision, WhatAMultiplyKeepsIsHalfTheBytes) {
  // Inputs behind two norms and behind GELU have a byte less; fused attention keeps its output beside the cast of it.
  EXPECT_EQ(first_layer(small_in(Precision::bf16)).saved - first_layer(small_in(Precision::fp8)).saved,
            kLowPrecisionTokens * kLowPrecisionHidden * (1 + 1 + 4 - 1));
  EXPECT_EQ(first_layer(small_in(Precision::bf16)).saved - first_layer(small_in(Precision::nvfp4)).saved,
            kLowPrecisionTokens * kLowPrecisionHidden * ((2 - kNvfp4) * (1 + 1 + 4) - kNvfp4));
}

TEST(LowPrecision, MultipliesBoundByTheirRateTakeHalfAsLong) {
  const Scenario s = small_in(Precision::fp8);
  const KernelCost cost{s.cluster.gpu, s.software, Precision::fp8};
  Gemm large{{}, {65536, 8192, 65536}};
  const double sixteen = to_seconds(cost.time(large));
  large.low_precision = true;
  large.shape.input_bytes = 1;
  EXPECT_NEAR(to_seconds(cost.time(large)) / sixteen, 0.5, 0.01);
  const Forecast f = forecast(s), plain = forecast(small_in(Precision::bf16));
  EXPECT_LT(f.step, plain.step);
  EXPECT_GT(f.step * 2, plain.step);
  const KernelCost four{s.cluster.gpu, s.software, Precision::nvfp4};
  large.shape.input_bytes = kNvfp4;
  EXPECT_NEAR(to_seconds(four.time(large)) / sixteen, 0.25, 0.01);
  EXPECT_LT(forecast(small_in(Precision::nvfp4, 100)).step, forecast(small_in(Precision::mxfp8, 100)).step);
}

TEST(LowPrecision, CopiesOfWeightsAreMemory) {
  const auto parameters = [](const Scenario& s) { return forecast(s).stages.front().memory.parameters.value; };
  const auto cast = static_cast<std::int64_t>(16 * 12 * kLowPrecisionHidden * kLowPrecisionHidden);
  const std::int64_t plain = parameters(small_in(Precision::bf16));
  EXPECT_EQ(parameters(small_in(Precision::fp8, 90)), plain + 2 * cast);
  EXPECT_EQ(parameters(small_in(Precision::fp8, 100)), plain + cast);
  EXPECT_EQ(parameters(small_in(Precision::nvfp4, 100)), plain + cast * 9 / 8);
  Scenario own = small_in(Precision::fp8, 100);
  own.training.eight_bit_parameters = true;
  EXPECT_EQ(parameters(own), plain - cast);
}

TEST(LowPrecision, SomeFirstAndLastLayersMayStayInBf16) {
  Scenario s = small_in(Precision::nvfp4, 100);
  s.training.bf16_layers_at_start = 1;
  s.training.bf16_layers_at_end = 2;
  const Blocks all = blocks(s);
  const Block low = first_layer(small_in(Precision::nvfp4, 100)), bf16 = first_layer(small_in(Precision::bf16, 100));
  ASSERT_EQ(all.order.size(), 18u);  // embedding, 16 layers, head
  for (std::uint32_t layer = 0; layer < 16; ++layer) {
    const Block& block = all.at(1 + layer);
    const Block& expected = layer < 1 || layer >= 14 ? bf16 : low;
    EXPECT_EQ(low_precision_weights(block), low_precision_weights(expected)) << layer;
    EXPECT_EQ(block.saved, expected.saved) << layer;
    EXPECT_EQ(block.forward.size(), expected.forward.size()) << layer;
  }
  EXPECT_EQ(model_flops(all), model_flops(blocks(small_in(Precision::bf16))));
  const Time some = forecast(s).step, none = forecast(small_in(Precision::nvfp4, 100)).step;
  s.training.bf16_layers_at_end = 14;
  const Time most = forecast(s).step;
  EXPECT_LT(none, some);
  EXPECT_NEAR(to_seconds(most - none) / to_seconds(some - none), 5, 1e-3);  // 15 layers and 3
}

TEST(LowPrecision, KeysThatContradictThemAreTold) {
  const auto first_key = [](const Scenario& s) {
    const std::vector<Problem> problems = check(s);
    return problems.empty() ? "" : problems.front().key;
  };
  Scenario s = small_in(Precision::fp8);
  EXPECT_EQ(first_key(s), "");
  s.training.precision = Precision::bf16;
  s.training.eight_bit_parameters = true;
  EXPECT_EQ(first_key(s), "training.eight_bit_parameters");
  s = small_in(Precision::mxfp8);
  s.training.scaling = Scaling::current;
  EXPECT_EQ(first_key(s), "training.scaling");
  for (const Precision precision : {Precision::fp8, Precision::mxfp8, Precision::nvfp4}) {
    s = small_in(precision);
    s.cluster.gpu.peak.erase(precision);
    EXPECT_EQ(first_key(s), "training.precision");
    EXPECT_TRUE(check(s).front().text.starts_with("GPU round has no rate for " + std::string(name(precision)) +
                                                  ", expected one of fp32, fp16, bf16, "));
  }
  s = small_in(Precision::nvfp4);
  s.training.eight_bit_parameters = true;  // four bits of them are not gathered by anyone
  EXPECT_EQ(first_key(s), "training.eight_bit_parameters");
  s = small_in(Precision::bf16);
  s.training.bf16_layers_at_end = 1;
  EXPECT_EQ(first_key(s), "training.bf16_layers_at_end");
  s = small_in(Precision::nvfp4);
  s.training.bf16_layers_at_start = 16;
  EXPECT_EQ(first_key(s), "training.bf16_layers_at_start");
}

}  // namespace
}  // namespace stepcast::schedules
