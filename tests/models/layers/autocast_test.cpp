// Training under torch.autocast: which kernels and tensors are in fp32, and where casts stand.

#include "models/layers/autocast.h"

#include <gtest/gtest.h>

#include "models/layers/blocks.h"
#include "tests/models/layers/first_layer.h"
#include "tests/schedules/scenarios.h"

namespace stepcast::schedules {
namespace {

/// GPT without dropout, in PyTorch as it is.
Scenario eager(bool autocast) {
  Scenario s = round_numbers(1);
  s.software.dropout = false;
  s.training.attention = Attention::flash;
  s.software.fused_bias_dropout_add = false;
  s.software.autocast = autocast ? Autocast::yes : Autocast::no;
  return s;
}

Scenario fused(bool autocast) {
  Scenario s = eager(autocast);
  s.software.fused_bias_dropout_add = true;
  return s;
}

/// Elements between the layers, and weights of a layer's multiplies, of round_numbers.
constexpr double kResidual = 1024.0 * 2048, kWeights = 12.0 * 2048 * 2048, kScores = 16.0 * 1024 * 1024;

double moved(const Kernels& pass, OperatorKind of) {
  double sum = 0;
  for (const Kernel& kernel : pass)
    if (const auto* elementwise = std::get_if<Elementwise>(&kernel); elementwise != nullptr && elementwise->kind == of)
      sum += elementwise->bytes;
  return sum;
}

double moved(const Kernels& pass) {
  double sum = 0;
  for (const Kernel& kernel : pass)
    if (const auto* elementwise = std::get_if<Elementwise>(&kernel)) sum += elementwise->bytes;
  return sum;
}

int launched(const Kernels& pass) {
  int sum = 0;
  for (const Kernel& kernel : pass) sum += launches(kernel);
  return sum;
}

TEST(Autocast, NormsAreInFp32AndWhatMultipliesReadIsCast) {
  const Block layer = first_layer(eager(true));
  EXPECT_EQ(moved(layer.forward, OperatorKind::layer_norm), 2 * kResidual * (4 + 4));
  EXPECT_EQ(moved(layer.forward, OperatorKind::cast), 2 * kResidual * (4 + 2));
  EXPECT_EQ(moved(layer.backward, OperatorKind::layer_norm), 2 * kResidual * 5 * 4);
  EXPECT_EQ(moved(layer.backward, OperatorKind::cast), 2 * kResidual * (4 + 2));
}

TEST(Autocast, ASumOfTheStreamAndAHalfIsInFp32) {
  const Block of_16_bits = first_layer(eager(false)), layer = first_layer(eager(true));
  const auto sum = OperatorKind::bias_dropout_residual;  // with its bias, a kernel of its own in 16 bits
  EXPECT_EQ(moved(of_16_bits.forward, sum), 2 * kResidual * (2 * 2 + 3 * 2));
  EXPECT_EQ(moved(layer.forward, sum), 2 * kResidual * (2 * 2 + 2 + 2 * 4));
  EXPECT_EQ(moved(layer.backward, sum) - moved(of_16_bits.backward, sum), 2 * kResidual * (4 + 2));
  EXPECT_EQ(layer.output, 2 * of_16_bits.output);
  EXPECT_EQ(layer.output, kResidual * 4);
}

TEST(Autocast, WeightsAreCastInEachPassAndTheirGradientsBack) {
  const Block of_16_bits = first_layer(fused(false)), layer = first_layer(fused(true));
  EXPECT_EQ(launched(layer.forward) - launched(of_16_bits.forward), 4);
  EXPECT_EQ(launched(layer.backward) - launched(of_16_bits.backward), 4);
  // A norm reads twice as much, and so does a sum, which writes twice as much too.
  EXPECT_EQ(moved(layer.forward) - moved(of_16_bits.forward), kWeights * (4 + 2) + 2 * kResidual * (2 + 4));
}

TEST(Autocast, FusedCastsAreInTheKernelsBesideThem) {
  const Block layer = first_layer(fused(true));
  EXPECT_EQ(moved(layer.forward, OperatorKind::cast), 0);
  EXPECT_EQ(moved(layer.backward, OperatorKind::cast), 0);
  EXPECT_EQ(moved(layer.forward, OperatorKind::layer_norm), 2 * kResidual * (4 + 2));
}

TEST(Autocast, WhatEntersANormIsKeptInFp32AndItsCastBeside) {
  // Both norms' inputs.
  EXPECT_EQ(first_layer(eager(true)).saved - first_layer(eager(false)).saved, 2 * kResidual * 2);
}

TEST(Autocast, SoftmaxIsInFp32) {
  for (const Precision precision : {Precision::fp16, Precision::bf16}) {
    Scenario s = eager(true);
    s.training.precision = precision;
    s.training.attention = Attention::unfused;
    s.software.fused_softmax = false;
    const Block layer = first_layer(s);
    s.software.autocast = Autocast::no;
    const Block of_16_bits = first_layer(s);
    const bool cast_before = precision == Precision::bf16;
    EXPECT_EQ(moved(layer.forward, OperatorKind::softmax), kScores * (4 + 4 + (cast_before ? 2 + 4 + 4 + 4 : 2 + 4)));
    EXPECT_EQ(moved(layer.forward, OperatorKind::cast), 2 * kResidual * (4 + 2) + kScores * (4 + 2));
    // What softmax wrote, in fp32, and its cast.
    EXPECT_EQ(layer.saved - of_16_bits.saved, 2 * kResidual * 2 + kScores * 4);
  }
}

TEST(Autocast, OtherPrecisionsAndAdaptersStayAsTheyAre) {
  for (const Precision precision : {Precision::fp32, Precision::bf16}) {
    Scenario s = eager(false);
    s.training.precision = precision;
    if (precision == Precision::bf16) s.training.lora = {.rank = 16, .targets = {.queries = true, .values = true}};
    const Block without = first_layer(s);
    s.software.autocast = Autocast::yes;
    const Block with = first_layer(s);
    EXPECT_EQ(moved(with.forward), moved(without.forward));
    EXPECT_EQ(moved(with.backward), moved(without.backward));
    EXPECT_EQ(with.saved, without.saved);
    EXPECT_EQ(with.output, without.output);
  }
}

TEST(Autocast, MayBeOfParametersThatNoRanksShareAlone) {
  Scenario s = eager(true);
  const double whole = first_layer(s).output;
  s.software.autocast = Autocast::unsharded;
  EXPECT_EQ(first_layer(s).output, whole);
  s.data_parallel.zero = 3;
  EXPECT_EQ(first_layer(s).output, whole / 2);
  s.software.autocast = Autocast::yes;
  EXPECT_EQ(first_layer(s).output, whole);
}

}  // namespace
}  // namespace stepcast::schedules
