#include "models/layers/rowwise_scaling.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "models/cost/kernel_time.h"
#include "models/layers/low_precision.h"
#include "schedules/checks/check.h"
#include "schedules/forecast.h"
#include "tests/models/layers/first_layer.h"
#include "tests/models/layers/pass_bytes.h"
#include "tests/schedules/scenarios.h"

namespace stepcast::schedules {
namespace {

/// Dropout and biases away, attention in one kernel, one micro-batch of one sample.
Scenario in_rows(std::uint32_t tensor = 1) {
  Scenario s = round_numbers(tensor);
  s.cluster.gpu.peak[Precision::fp8] = {600e12};
  s.cluster.gpu.compute_capability = 90;
  s.parallelism.tensor = tensor;
  s.parallelism.sequence = tensor > 1;
  s.training.precision = Precision::fp8;
  s.training.scaling = Scaling::rowwise;
  s.training.global_batch = 1;
  s.training.attention = Attention::flash;
  s.software.biases = s.software.dropout = false;
  return s;
}

Scenario in_bf16(std::uint32_t tensor = 1) {
  Scenario s = in_rows(tensor);
  s.training.precision = Precision::bf16;
  s.training.scaling = Scaling::delayed;
  return s;
}

std::vector<TensorCollective> traffic(const Kernels& pass) {
  std::vector<TensorCollective> all;
  for (const Kernel& op : pass)
    if (const auto* c = std::get_if<TensorCollective>(&op)) all.push_back(*c);
  return all;
}

/// torchao's roofline of one linear layer (roofline_utils.py, "rowwise"): 8 bytes for each number of its input and of
/// its output gradient, 10 of its weight; each gradient is then read and written to scale it, issue pytorch/ao 2184.
TEST(RowwiseScaling, OneLinearLayerMovesWhatTorchaoCounts) {
  constexpr std::int64_t kTokens = 512, kIn = 64, kOut = 96;
  Block layer;
  layer.forward = {Gemm{.shape = {kTokens, kOut, kIn}, .linear = true}};
  layer.backward = {Gemm{.shape = {kTokens, kIn, kOut}, .linear = true},
                    Gemm{.shape = {kOut, kIn, kTokens}, .of_weights = true, .linear = true}};
  use_rowwise_scaling(layer, in_rows());
  const auto both = [&](OperatorKind kind) {
    return touched_bytes(layer.forward, kind) + touched_bytes(layer.backward, kind);
  };
  EXPECT_EQ(both(OperatorKind::cast) + both(OperatorKind::cast_transpose), 8 * kTokens * (kIn + kOut));
  EXPECT_EQ(both(OperatorKind::weight_cast), 10 * kIn * kOut);
  EXPECT_EQ(both(OperatorKind::product_scale), 4 * (kTokens * kIn + kIn * kOut));
  // What only the weight's gradient needs may be put off with it: both casts by columns, and its own scales.
  const SplitBackward split = split_backward(layer.backward);
  EXPECT_EQ(touched_bytes(split.weights, OperatorKind::cast_transpose), 5 * kTokens * (kIn + kOut));
  EXPECT_EQ(touched_bytes(split.weights, OperatorKind::product_scale), 4 * kIn * kOut);
  EXPECT_EQ(touched_bytes(split.inputs, OperatorKind::cast), 3 * kTokens * kOut);
}

TEST(RowwiseScaling, RanksGatherBf16AndCastAllOfIt) {
  const Block rows = first_layer(in_rows(4)), bf16 = first_layer(in_bf16(4)), alone = first_layer(in_rows());
  for (Kernels Block::*pass : {&Block::forward, &Block::backward}) {
    const std::vector<TensorCollective> ours = traffic(rows.*pass), theirs = traffic(bf16.*pass);
    ASSERT_EQ(ours.size(), theirs.size());
    for (std::size_t i = 0; i < ours.size(); ++i) EXPECT_EQ(ours[i].bytes, theirs[i].bytes);
  }
  // Inputs of the four multiplies are h, h, h and 4h wide, of which the first and third were gathered.
  const double h = 2048.0 * 1024;
  EXPECT_EQ(touched_bytes(alone.forward, OperatorKind::cast), 3 * 7 * h);
  EXPECT_EQ(touched_bytes(rows.forward, OperatorKind::cast), 3 * (2 + 5 / 4.0) * h);
}

TEST(RowwiseScaling, NoGatherRunsBesideTheMultiplyBehindItsCast) {
  Scenario s = in_rows(4);
  s.software.tensor_overlap = TensorOverlap::all;
  const Block layer = first_layer(s);
  for (const Kernels* pass : {&layer.forward, &layer.backward})
    for (const TensorCollective& c : traffic(*pass))
      if (c.operation == collectives::Operation::all_gather) {
        EXPECT_EQ(c.parts, 1);
        EXPECT_FALSE(c.under_next);
      }
  // Scatters still do: of two multiplies forward, and under the weight's gradient backward.
  EXPECT_EQ(std::ranges::count(traffic(layer.forward), 4, &TensorCollective::parts), 2);
  EXPECT_EQ(std::ranges::count(traffic(layer.backward), true, &TensorCollective::under_next), 2);
}

TEST(RowwiseScaling, ANormCastsItsRowsItself) {
  Scenario s = in_rows();
  const Block plain = first_layer(s);
  s.software.fused_quantization = true;
  const Block fused = first_layer(s);
  const double h = 2048.0 * 1024;
  EXPECT_EQ(touched_bytes(fused.forward, OperatorKind::cast), 3 * 5 * h);
  EXPECT_EQ(touched_bytes(fused.forward, OperatorKind::layer_norm),
            touched_bytes(plain.forward, OperatorKind::layer_norm) + 2 * h);
}

TEST(RowwiseScaling, KeepsWhatBf16Keeps) {
  const Scenario rows = in_rows(), bf16 = in_bf16();
  EXPECT_EQ(first_layer(rows).saved, first_layer(bf16).saved);
  EXPECT_EQ(forecast(rows).stages.front().memory.parameters, forecast(bf16).stages.front().memory.parameters);
  EXPECT_FALSE(keeps_casts(rows));
}

TEST(RowwiseScaling, WeightsAreCastInEachPass) {
  Scenario s = in_rows();
  const double once = touched_bytes(first_layer(s).forward, OperatorKind::weight_cast);
  s.training.global_batch = 8;
  EXPECT_EQ(touched_bytes(first_layer(s).forward, OperatorKind::weight_cast), once);
}

TEST(RowwiseScaling, MultipliesThatScaleRowsHaveTheirShareOfTheRate) {
  Scenario s = in_rows();
  s.cluster.gpu.fp8_rowwise_share = 0.8;
  const KernelCost cost{s.cluster.gpu, s.software, Precision::fp8};
  Gemm large{.shape = {65536, 8192, 65536, 1, 1}, .low_precision = true};
  const double plain = to_seconds(cost.time(large));
  large.scales_rows = true;
  EXPECT_NEAR(to_seconds(cost.time(large)) / plain, 1 / 0.8, 0.01);
  // Forward alone: backward multiplies as with one scale a tensor.
  const Block layer = first_layer(s);
  for (const Kernel& op : layer.backward)
    if (const auto* gemm = std::get_if<Gemm>(&op)) {
      EXPECT_TRUE(gemm->low_precision);
      EXPECT_FALSE(gemm->scales_rows);
    }
}

TEST(RowwiseScaling, TakesLongerThanOneScaleATensor) {
  Scenario s = in_rows(4);
  const Time rows = forecast(s).step;
  s.training.scaling = Scaling::current;
  EXPECT_GT(rows, forecast(s).step);
}

TEST(RowwiseScaling, AsksForFp8AndForParametersOf16Bits) {
  Scenario s = in_rows();
  EXPECT_TRUE(check(s).empty());
  s.training.eight_bit_parameters = true;
  ASSERT_EQ(check(s).size(), 1u);
  EXPECT_EQ(check(s).front().key, "training.eight_bit_parameters");
  s = in_bf16();
  s.training.scaling = Scaling::rowwise;
  ASSERT_EQ(check(s).size(), 1u);
  EXPECT_EQ(check(s).front().key, "training.scaling");
  EXPECT_EQ(check(s).front().text, "found rowwise, expected precision fp8 with it");
}

}  // namespace
}  // namespace stepcast::schedules
