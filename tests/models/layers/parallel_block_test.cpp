// Feed-forward blocks beside attention: the same multiplies and fewer sums over the tensor ranks.

#include "models/layers/parallel_block.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "models/layers/blocks.h"
#include "schedules/checks/check.h"
#include "tests/models/layers/first_layer.h"
#include "tests/schedules/scenarios.h"

namespace stepcast::schedules {
namespace {

constexpr double kBlockTokens = 2 * 1024, kBlockHidden = 2048, kBlockElement = 2;

Scenario decoder(ParallelBlock block, std::uint32_t tensor, bool sequence = false) {
  Scenario s = round_numbers(tensor);
  s.model = {"falcon", Family::gpt, 4, 2048, 32, 8, 8192, 51200, ""};
  s.model.variations.parallel_block = block;
  s.model.variations.biases = Biases::none;
  s.model.variations.dropout = false;
  s.model.variations.positions = Positions::rotary;
  s.training = {.global_batch = 4, .micro_batch = 2, .sequence = 1024, .precision = Precision::bf16};
  s.training.attention = Attention::flash;
  s.parallelism.tensor = tensor;
  s.parallelism.sequence = sequence;
  return s;
}

std::ptrdiff_t collectives_of(const Kernels& pass) {
  return std::ranges::count_if(pass, [](const Kernel& op) { return std::holds_alternative<TensorCollective>(op); });
}

double multiplied_in(const Kernels& pass) {
  double flops = 0;
  for (const Kernel& op : pass)
    if (const auto* gemm = std::get_if<Gemm>(&op))
      flops += 2.0 * static_cast<double>(gemm->shape.m) * static_cast<double>(gemm->shape.n) *
               static_cast<double>(gemm->shape.k * gemm->shape.batch);
  return flops;
}

TEST(ParallelBlock, MultipliesAsOftenAsTheLayerItReplaces) {
  for (const std::uint32_t tensor : {1u, 8u}) {
    const Block one_by_one = first_layer(decoder(ParallelBlock::none, tensor));
    for (const ParallelBlock block : {ParallelBlock::one_norm, ParallelBlock::two_norms}) {
      const Block beside = first_layer(decoder(block, tensor));
      EXPECT_EQ(multiplied_in(beside.forward), multiplied_in(one_by_one.forward)) << tensor;
      EXPECT_EQ(multiplied_in(beside.backward), multiplied_in(one_by_one.backward)) << tensor;
    }
  }
}

// Chowdhery et al. 2022 (arXiv 2204.02311), sec. 2: one sum forward where there were two. With the sequence split it is
// a gather and a scatter; two norms' results are gathered each.
TEST(ParallelBlock, SumsOnceOverTheTensorRanks) {
  EXPECT_EQ(collectives_of(first_layer(decoder(ParallelBlock::none, 8)).forward), 2);
  EXPECT_EQ(collectives_of(first_layer(decoder(ParallelBlock::one_norm, 8)).forward), 1);
  EXPECT_EQ(collectives_of(first_layer(decoder(ParallelBlock::two_norms, 8)).forward), 1);
  EXPECT_EQ(collectives_of(first_layer(decoder(ParallelBlock::none, 8)).backward), 2);
  EXPECT_EQ(collectives_of(first_layer(decoder(ParallelBlock::one_norm, 8)).backward), 1);
  EXPECT_EQ(collectives_of(first_layer(decoder(ParallelBlock::two_norms, 8)).backward), 2);
  EXPECT_EQ(collectives_of(first_layer(decoder(ParallelBlock::none, 8, true)).forward), 4);
  EXPECT_EQ(collectives_of(first_layer(decoder(ParallelBlock::one_norm, 8, true)).forward), 2);
  EXPECT_EQ(collectives_of(first_layer(decoder(ParallelBlock::two_norms, 8, true)).forward), 3);
}

TEST(ParallelBlock, KeepsItsInputOnceAndASharedNormOnce) {
  const double sequential = first_layer(decoder(ParallelBlock::none, 1)).saved,
               tensor = kBlockTokens * kBlockHidden * kBlockElement;
  EXPECT_DOUBLE_EQ(sequential - first_layer(decoder(ParallelBlock::two_norms, 1)).saved, tensor);
  EXPECT_DOUBLE_EQ(sequential - first_layer(decoder(ParallelBlock::one_norm, 1)).saved, 2 * tensor);
  const double norm = 2 * kBlockHidden;  // gain and bias
  EXPECT_DOUBLE_EQ(first_layer(decoder(ParallelBlock::none, 1)).parameters -
                       first_layer(decoder(ParallelBlock::one_norm, 1)).parameters,
                   norm);
}

TEST(ParallelBlock, SaysWhatItDoesNotGoWith) {
  Scenario split = decoder(ParallelBlock::one_norm, 4);
  split.parallelism.tensor_method = TensorMethod::partition_output;
  ASSERT_EQ(check(split).size(), 1u);
  EXPECT_EQ(check(split).front().key, "model.parallel_block");
  Scenario repeated = decoder(ParallelBlock::one_norm, 4);
  repeated.recompute = Recompute::selective;
  repeated.recomputed_modules = RecomputedModules{.feed_forward = true};
  ASSERT_EQ(check(repeated).size(), 1u);
  EXPECT_EQ(check(repeated).front().key, "model.parallel_block");
}

}  // namespace
}  // namespace stepcast::schedules
