#include "models/layers/multiply_pair.h"

#include <gtest/gtest.h>

#include <map>

#include "models/layers/blocks.h"
#include "models/layers/model_blocks.h"
#include "models/layers/stack_sizes.h"
#include "schedules/checks/check.h"
#include "schedules/forecast.h"
#include "tests/schedules/saved.h"
#include "tests/schedules/scenarios.h"

namespace stepcast::schedules {
namespace {

using collectives::Operation;

constexpr TensorMethod kMethods[] = {TensorMethod::megatron, TensorMethod::partition_output,
                                     TensorMethod::reduce_output};

Scenario with(Model model, std::uint32_t tensor, TensorMethod method) {
  Scenario s = round_numbers(tensor);
  s.model = std::move(model);
  s.training.micro_batch = s.training.global_batch = 2;
  s.training.sequence = s.training.decoder_sequence = 256;
  s.parallelism.tensor = tensor;
  s.parallelism.tensor_method = method;
  if (s.model.family != Family::t5) s.training.decoder_sequence = 0;
  return s;
}

std::vector<Model> models() {
  Model t5{"t5", Family::t5, 4, 512, 8, 8, 1024, 32128, ""};
  t5.decoder_layers = 2;
  return {{"gpt", Family::gpt, 3, 768, 12, 12, 3072, 51200, ""},
          {"llama with grouped queries", Family::llama, 3, 1024, 16, 4, 2816, 32000, ""},
          {"bert", Family::bert, 2, 512, 8, 8, 2048, 30720, ""},
          t5};
}

/// Multiplies of a pass: those with a weight and those of attention.
double flops(const Kernels& pass) {
  double all = 0;
  for (const Kernel& op : pass) {
    if (const auto* gemm = std::get_if<Gemm>(&op)) all += gemm->shape.flops().value;
    if (const auto* fused = std::get_if<FusedAttention>(&op)) all += fused->flops.value;
  }
  return all;
}

/// Of one kind of block, bytes of what the tensor ranks exchange, by operation.
std::map<Operation, double> exchanged(const Kernels& pass) {
  std::map<Operation, double> bytes;
  for (const Kernel& op : pass)
    if (const auto* traffic = std::get_if<TensorCollective>(&op))
      bytes[traffic->operation] += static_cast<double>(traffic->bytes.value);
  return bytes;
}

const Block& layer_of(const Blocks& all) { return *std::ranges::find_if(all.kinds, &Block::layer); }

TEST(MultiplyPair, TheRanksMultipliesTogetherAreTheWholeModels) {
  for (const Model& model : models())
    for (const Attention kernel : {Attention::unfused, Attention::flash})
      for (const std::uint32_t tensor : {2u, 4u})
        for (const TensorMethod method : kMethods) {
          Scenario s = with(model, tensor, method), whole = with(model, 1, method);
          s.training.attention = whole.training.attention = kernel;
          ASSERT_TRUE(check(s).empty()) << check(s).front().text;
          const Blocks split = blocks(s), all = blocks(whole);
          ASSERT_EQ(split.kinds.size(), all.kinds.size());
          for (std::size_t kind = 0; kind < all.kinds.size(); ++kind) {
            if (!all.kinds[kind].layer) continue;
            EXPECT_EQ(tensor * flops(split.kinds[kind].forward), flops(all.kinds[kind].forward)) << model.name;
            EXPECT_EQ(tensor * flops(split.kinds[kind].backward), flops(all.kinds[kind].backward)) << model.name;
          }
        }
}

// Each weight is on one rank, whichever way it is cut; norms and the biases behind the second multiply are on all.
TEST(MultiplyPair, TheRanksWeightsTogetherAreTheWholeModels) {
  for (const Model& model : models())
    for (const TensorMethod method : kMethods) {
      const Block one = layer_of(blocks(with(model, 1, method))), four = layer_of(blocks(with(model, 4, method)));
      const double norms = model.family == Family::gpt || model.family == Family::bert ? 4 : 2;
      const double whole = static_cast<double>(model.hidden) * (norms + (norms == 4 ? 2 : 0));  // and biases
      EXPECT_EQ(4 * four.parameters - one.parameters, 3 * whole) << model.name;
      double of_one = 0, of_four = 0;
      for (const auto& [weights, block] : {std::pair{&of_one, &one}, {&of_four, &four}})
        for (const Kernel& op : block->backward)
          if (const auto* gemm = std::get_if<Gemm>(&op); gemm != nullptr && gemm->of_weights)
            *weights += static_cast<double>(gemm->shape.m * gemm->shape.n);
      EXPECT_EQ(4 * of_four, of_one) << model.name;
    }
}

TEST(MultiplyPair, ShapesAreCutByColumnsOrByRows) {
  const auto shapes = [](TensorMethod method) {
    std::vector<std::array<std::int64_t, 3>> found;
    const Blocks all = blocks(with(models()[0], 4, method));
    for (const Kernel& op : layer_of(all).forward)
      if (const auto* gemm = std::get_if<Gemm>(&op); gemm != nullptr && gemm->shape.batch == 1)
        found.push_back({gemm->shape.m, gemm->shape.k, gemm->shape.n});
    return found;
  };
  using Shapes = std::vector<std::array<std::int64_t, 3>>;
  EXPECT_EQ(shapes(TensorMethod::megatron),
            (Shapes{{512, 768, 576}, {512, 192, 768}, {512, 768, 768}, {512, 768, 768}}));
  EXPECT_EQ(shapes(TensorMethod::partition_output),
            (Shapes{{512, 768, 576}, {512, 768, 192}, {512, 768, 768}, {512, 3072, 192}}));
  EXPECT_EQ(shapes(TensorMethod::reduce_output),
            (Shapes{{512, 192, 2304}, {512, 192, 768}, {512, 192, 3072}, {512, 768, 768}}));
}

// Of a layer with f = 4 h, in tokens x h: what enters or leaves each multiply, once a pass.
TEST(MultiplyPair, VolumesAreThoseOfFilterAndChannelParallelism) {
  const Model gpt = models()[0];
  const double tokens_h = 512.0 * 768 * 2;
  const auto forward = [&](TensorMethod method) { return exchanged(layer_of(blocks(with(gpt, 4, method))).forward); };
  const auto backward = [&](TensorMethod method) { return exchanged(layer_of(blocks(with(gpt, 4, method))).backward); };
  using Volumes = std::map<Operation, double>;
  EXPECT_EQ(forward(TensorMethod::megatron), (Volumes{{Operation::all_reduce, 2 * tokens_h}}));
  EXPECT_EQ(backward(TensorMethod::megatron), (Volumes{{Operation::all_reduce, 2 * tokens_h}}));
  // Gathered: heads' results and the projection's, inner features and the block's.
  EXPECT_EQ(forward(TensorMethod::partition_output), (Volumes{{Operation::all_gather, (1 + 1 + 4 + 1) * tokens_h}}));
  EXPECT_EQ(backward(TensorMethod::partition_output),
            (Volumes{{Operation::reduce_scatter, (1 + 4) * tokens_h}, {Operation::all_reduce, (1 + 1) * tokens_h}}));
  EXPECT_EQ(forward(TensorMethod::reduce_output),
            (Volumes{{Operation::reduce_scatter, (3 + 4) * tokens_h}, {Operation::all_reduce, (1 + 1) * tokens_h}}));
  EXPECT_EQ(backward(TensorMethod::reduce_output), (Volumes{{Operation::all_gather, (3 + 1 + 4 + 1) * tokens_h}}));
}

// Of Korthikanti et al.'s 10 + 24/t (2022, eq. 2), in s b h bytes: the gathered inputs of projection (2) and second
// feed-forward multiply (8) are whole; or the shared inputs of the first ones (2 each) are not.
TEST(MultiplyPair, SavedActivationsAreThePublishedFormulaWithWhatIsGatheredOrShared) {
  const Model gpt = models()[0];
  const double sbh = 512.0 * 768, t = 4;
  const auto saved = [&](TensorMethod method, Attention kernel) {
    Scenario s = with(gpt, 4, method);
    s.training.attention = kernel;
    return saved_activation_bytes(s, stack_sizes(s, 256, true), Recompute::none);
  };
  const double scores = 5.0 * 12 * 256 / 768 / t, statistics = 12 / t * 256 * 2 * 4;
  EXPECT_DOUBLE_EQ(saved(TensorMethod::megatron, Attention::unfused), sbh * (10 + 24 / t + scores));
  EXPECT_DOUBLE_EQ(saved(TensorMethod::partition_output, Attention::unfused), sbh * (20 + 14 / t + scores));
  EXPECT_DOUBLE_EQ(saved(TensorMethod::reduce_output, Attention::unfused), sbh * (6 + 28 / t + scores));
  // Fused attention needs its own result in backward, a tensor beside the gathered one.
  EXPECT_DOUBLE_EQ(saved(TensorMethod::megatron, Attention::flash), sbh * (10 + 24 / t) + statistics);
  EXPECT_DOUBLE_EQ(saved(TensorMethod::partition_output, Attention::flash), sbh * (20 + 16 / t) + statistics);
  EXPECT_DOUBLE_EQ(saved(TensorMethod::reduce_output, Attention::flash), sbh * (6 + 28 / t) + statistics);
}

TEST(MultiplyPair, TrafficOfAnInputsGradientRunsUnderTheWeightsWhereTheSoftwareOverlaps) {
  for (const TensorMethod method : kMethods) {
    Scenario s = with(models()[0], 4, method);
    const auto hidden = [&] {
      int count = 0;
      const Blocks all = blocks(s);
      const Kernels& backward = layer_of(all).backward;
      for (std::size_t i = 0; i + 1 < backward.size(); ++i) {
        const auto* traffic = std::get_if<TensorCollective>(&backward[i]);
        if (traffic == nullptr || !traffic->under_next) continue;
        EXPECT_TRUE(std::get<Gemm>(backward[i + 1]).of_weights);
        ++count;
      }
      return count;
    };
    EXPECT_EQ(hidden(), 0);
    s.software.tensor_overlap = TensorOverlap::backward;
    EXPECT_EQ(hidden(), method == TensorMethod::partition_output ? 4 : 2);
  }
}

TEST(MultiplyPair, OneRankIsNotSplit) {
  for (const TensorMethod method : kMethods)
    EXPECT_EQ(forecast(with(models()[0], 1, method)).step, forecast(with(models()[0], 1, TensorMethod::megatron)).step);
}

TEST(MultiplyPair, WhatDoesNotGoTogetherIsNamed) {
  Scenario s = with(models()[0], 4, TensorMethod::reduce_output);
  s.parallelism.sequence = true;
  ASSERT_EQ(check(s).size(), 1u);
  EXPECT_EQ(check(s).front().text,
            "reduce-output leaves whole what parallelism.sequence shares; expected megatron with it");
  s.parallelism.sequence = false;
  s.model.hidden = 774;
  s.model.head_width = 64;
  ASSERT_EQ(check(s).size(), 1u);
  EXPECT_EQ(check(s).front().text, "reduce-output: tensor 4 does not divide model.hidden 774");
}

}  // namespace
}  // namespace stepcast::schedules
