#include "scenario/network.h"

#include <gtest/gtest.h>

#include "models/cost/gemm.h"
#include "models/layers/blocks.h"
#include "models/layers/model_blocks.h"
#include "tests/schedules/scenarios.h"

namespace stepcast::schedules {
namespace {

NetworkLayer convolution(std::int64_t out, std::int64_t kernel, std::int64_t stride = 1) {
  NetworkLayer layer{.kind = LayerKind::convolution, .out = out, .kernel_height = kernel, .kernel_width = kernel};
  layer.stride = stride;
  return layer;
}

NetworkLayer linear(std::int64_t out) { return {.kind = LayerKind::linear, .out = out}; }

Scenario with(std::vector<NetworkLayer> layers, Tensor input = {3, 32, 32}, std::uint32_t tensor = 1) {
  Scenario s = round_numbers(tensor);
  s.model.family = Family::cnn;
  s.model.network = {input, std::move(layers)};
  s.model.layers = units(s.model.network);
  s.training = {.global_batch = 8, .micro_batch = 8, .sequence = 1, .precision = Precision::fp32};
  s.parallelism.tensor = tensor;
  return s;
}

template <class Kind>
std::vector<Kind> of_kind(const Kernels& operators) {
  std::vector<Kind> found;
  for (const Kernel& op : operators)
    if (const auto* kind = std::get_if<Kind>(&op)) found.push_back(*kind);
  return found;
}

double flops_of(const std::vector<Convolution>& all) {
  double flops = 0;
  for (const Convolution& c : all) flops += c.shape.flops().value;
  return flops;
}

TEST(Network, AConvolutionIsAMultiplyOfItsOutputsPixels) {
  const Blocks all = blocks(with({convolution(16, 3), convolution(32, 5, 2)}));
  const auto forward = of_kind<Convolution>(all.kinds[1].forward),
             backward = of_kind<Convolution>(all.kinds[1].backward);
  ASSERT_EQ(forward.size(), 1u);
  EXPECT_EQ(forward[0].shape.m, 8 * 16 * 16);  // (32 + 4 - 5) / 2 + 1 pixels a side
  EXPECT_EQ(forward[0].shape.n, 32);
  EXPECT_EQ(forward[0].shape.k, 16 * 25);
  EXPECT_EQ(forward[0].read, 4.0 * (8 * 16 * 32 * 32 + 16 * 32 * 25));
  ASSERT_EQ(backward.size(), 2u);
  EXPECT_EQ(flops_of({backward[0]}), flops_of(forward));
  EXPECT_EQ(flops_of({backward[1]}), flops_of(forward));
}

TEST(Network, TheFirstLayerHasNoGradientOfItsInput) {
  const Blocks all = blocks(with({convolution(16, 3), convolution(16, 3)}));
  EXPECT_EQ(of_kind<Convolution>(all.kinds[0].backward).size(), 1u);
  EXPECT_EQ(of_kind<Convolution>(all.kinds[1].backward).size(), 2u);
}

TEST(Network, GroupsAreMultipliedOneByOne) {
  NetworkLayer grouped = convolution(64, 3);
  grouped.groups = 8;
  const Blocks all = blocks(with({convolution(32, 1), grouped}));
  EXPECT_EQ(of_kind<Convolution>(all.kinds[1].forward)[0].shape.batch, 8);
  EXPECT_EQ(flops_of(of_kind<Convolution>(all.kinds[1].forward)), 2.0 * 8 * 32 * 32 * 64 * (32 / 8) * 9);
  EXPECT_EQ(all.kinds[1].parameters, 64 * (32 / 8) * 9);
}

TEST(Network, ABottleneckKeepsEveryResultOnce) {
  NetworkLayer block{.kind = LayerKind::bottleneck, .out = 64};
  block.repeat = 3;
  const Blocks all = blocks(with({convolution(64, 3), block}));
  ASSERT_EQ(all.order, (std::vector<std::uint32_t>{0, 1, 2, 2}));  // the second and third bottleneck are alike
  const double pixels = 8 * 32 * 32 * 4;
  // Two convolutions with norm and ReLU keep 2 x 16 channels each, the third its 64, the addition its 64.
  EXPECT_EQ(all.kinds[2].saved, pixels * (2 * 2 * 16 + 64 + 64));
  EXPECT_EQ(all.kinds[2].parameters, 64 * 16 + 16 * 16 * 9 + 16 * 64 + 2 * (16 + 16 + 64));
}

TEST(Network, FusedNormsMoveFewerBytesInFewerLaunches) {
  const auto elementwise = [](bool fused) {
    Scenario s = with({convolution(64, 3), {.kind = LayerKind::bottleneck, .out = 64}});
    s.software.fused_norm_relu = fused;
    double bytes = 0;
    int kernels = 0;
    for (const Elementwise& e : of_kind<Elementwise>(blocks(s).kinds[1].forward)) {
      bytes += e.bytes;
      kernels += e.kernels;
    }
    return std::pair(bytes, kernels);
  };
  const double pixels = 8 * 32 * 32 * 4;
  EXPECT_EQ(elementwise(true), std::pair(pixels * (3 * (16 + 16 + 64) + 64), 3));
  EXPECT_EQ(elementwise(false).first, pixels * (3 * (16 + 16 + 64) + 2 * (16 + 16 + 64) + 3 * 64));
  EXPECT_GT(elementwise(false).second, 3);
}

TEST(Network, ConvolutionsMayDoTheNormsNextToThem) {
  const auto of_block = [](NormInConvolutions inside) {
    Scenario s = with({convolution(64, 3), {.kind = LayerKind::bottleneck, .out = 64}});
    s.software.norm_in_convolutions = inside;
    const Blocks all = blocks(s);
    double bytes = 0;
    for (const Elementwise& e : of_kind<Elementwise>(all.kinds[1].forward)) bytes += e.bytes;
    return std::pair(bytes, all.kinds[1].saved);
  };
  const double pixels = 8 * 32 * 32 * 4, kept = pixels * (2 * 2 * 16 + 64 + 64);
  EXPECT_EQ(of_block(NormInConvolutions::none), std::pair(pixels * (3 * (16 + 16 + 64) + 64), kept));
  EXPECT_EQ(of_block(NormInConvolutions::statistics), std::pair(pixels * (2 * (16 + 16 + 64) + 64), kept));
  EXPECT_EQ(of_block(NormInConvolutions::all), std::pair(pixels * (2 * 64 + 64), kept - pixels * 2 * 16));
}

TEST(Network, MatrixUnitsWantChannelsLast) {
  const auto turned = [](Precision precision, bool channels_last) {
    Scenario s = with({convolution(64, 3)});
    s.training.precision = precision;
    s.software.channels_last = channels_last;
    double bytes = 0;
    for (const Elementwise& e : of_kind<Elementwise>(blocks(s).kinds[0].forward)) bytes += e.bytes;
    return bytes;
  };
  const double values = 8 * 32 * 32 * (3 + 64);  // input and output, each read and written
  EXPECT_EQ(turned(Precision::fp16, false), 2 * 2 * values);
  EXPECT_EQ(turned(Precision::tf32, false), 2 * 4 * values);
  EXPECT_EQ(turned(Precision::fp32, false), 0);
  EXPECT_EQ(turned(Precision::fp16, true), 0);
  EXPECT_EQ(turned(Precision::tf32, true), 0);
}

TEST(Network, LinearLayersAreSplitByOutputsByInputsOrInPairs) {
  const std::vector<NetworkLayer> layers{linear(64), linear(32), linear(128), linear(16)};
  using Traffic = std::vector<std::pair<collectives::Operation, std::int64_t>>;
  const auto split = [&](TensorMethod method, std::size_t unit, bool backward) {
    Scenario s = with(layers, {48, 1, 1}, 4);
    s.parallelism.tensor_method = method;
    const Blocks four = blocks(s), one = blocks(with(layers, {48, 1, 1}));
    double whole = 0, together = 0, weights = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      weights += 4 * four.kinds[four.order[i]].parameters - one.kinds[one.order[i]].parameters;
      for (const auto& part : {&Block::forward, &Block::backward}) {
        for (const Gemm& g : of_kind<Gemm>(four.kinds[four.order[i]].*part)) together += 4 * g.shape.flops().value;
        for (const Gemm& g : of_kind<Gemm>(one.kinds[one.order[i]].*part)) whole += g.shape.flops().value;
      }
    }
    EXPECT_EQ(together, whole);
    EXPECT_EQ(weights, 0);
    Traffic found;
    const Block& block = four.kinds[four.order[unit]];
    for (const TensorCollective& c : of_kind<TensorCollective>(backward ? block.backward : block.forward))
      found.emplace_back(c.operation, c.bytes.value);
    return found;
  };
  const std::int64_t each = 8 * 4;  // bytes of one feature of all samples
  using enum collectives::Operation;
  for (const std::size_t unit : {1u, 3u}) {  // 64 -> 32, 128 -> 16
    const std::int64_t in = unit == 1 ? 64 : 128, out = unit == 1 ? 32 : 16;
    EXPECT_EQ(split(TensorMethod::partition_output, unit, false), (Traffic{{all_gather, each * in}}));
    EXPECT_EQ(split(TensorMethod::partition_output, unit, true), (Traffic{{reduce_scatter, each * in}}));
    for (const TensorMethod method : {TensorMethod::reduce_output, TensorMethod::megatron}) {  // seconds of pairs
      EXPECT_EQ(split(method, unit, false), (Traffic{{reduce_scatter, each * out}}));
      EXPECT_EQ(split(method, unit, true), (Traffic{{all_gather, each * out}}));
    }
  }
  EXPECT_EQ(split(TensorMethod::megatron, 2, false), split(TensorMethod::partition_output, 2, false));
  EXPECT_EQ(split(TensorMethod::megatron, 2, true), split(TensorMethod::partition_output, 2, true));
  // The first layer's samples are changed for features; nothing before it wants a gradient.
  EXPECT_EQ(split(TensorMethod::reduce_output, 0, false),
            (Traffic{{all_to_all, each * 48 / 4}, {reduce_scatter, each * 64}}));
  EXPECT_EQ(split(TensorMethod::reduce_output, 0, true), (Traffic{{all_gather, each * 64}}));
}

TEST(Network, TensorRanksShareSamplesFirstAndFeaturesAfterwards) {
  const std::vector<NetworkLayer> layers{convolution(16, 3), linear(64), linear(8)};
  const Blocks one = blocks(with(layers)), four = blocks(with(layers, {3, 32, 32}, 4));
  EXPECT_EQ(of_kind<Convolution>(four.kinds[0].forward)[0].shape.m * 4,
            of_kind<Convolution>(one.kinds[0].forward)[0].shape.m);
  EXPECT_EQ(four.kinds[0].parameters, one.kinds[0].parameters);
  EXPECT_EQ(four.kinds[1].parameters * 4, one.kinds[1].parameters);
  const auto gradient_sum = of_kind<TensorCollective>(four.kinds[0].backward);
  ASSERT_EQ(gradient_sum.size(), 1u);
  EXPECT_EQ(gradient_sum[0].bytes.value, 4 * 3 * 16 * 9);
  const auto gather = of_kind<TensorCollective>(four.kinds[1].forward);
  ASSERT_EQ(gather.size(), 1u);
  EXPECT_EQ(gather[0].bytes.value, 4 * 8 * 16 * 32 * 32);
  EXPECT_TRUE(of_kind<TensorCollective>(one.kinds[1].forward).empty());
}

TEST(Network, GivenBackwardOperatorsReplaceTheDerivedOnes) {
  NetworkLayer gemm{.kind = LayerKind::gemm};
  gemm.m = 128;
  gemm.n = 256;
  gemm.k = 64;
  const Blocks derived = blocks(with({gemm, gemm}, {}));
  EXPECT_EQ(of_kind<Gemm>(derived.kinds[1].backward).size(), 2u);
  EXPECT_EQ(derived.kinds[1].parameters, 256 * 64);
  EXPECT_EQ(of_kind<Gemm>(derived.kinds[1].forward)[0].shape.m, 8 * 128);
  NetworkLayer elementwise{.kind = LayerKind::elementwise};
  elementwise.bytes = 1000;
  gemm.backward = {elementwise};
  const Blocks given = blocks(with({gemm}, {}));
  EXPECT_TRUE(of_kind<Gemm>(given.kinds[0].backward).empty());
  EXPECT_EQ(of_kind<Elementwise>(given.kinds[0].backward).at(0).bytes, 8 * 1000.0);
}

TEST(Network, GradientsOfWeightsWaitWhereBackwardIsSplit) {
  NetworkLayer gemm{.kind = LayerKind::gemm}, scores{.kind = LayerKind::gemm, .parameters = 0};
  gemm.m = scores.m = 128;
  gemm.n = scores.n = 256;
  gemm.k = scores.k = 64;
  const Blocks all = blocks(with({gemm, gemm, scores}, {}));
  const SplitBackward split = split_backward(all.kinds[1].backward), of_scores = split_backward(all.kinds[2].backward);
  ASSERT_EQ(of_kind<Gemm>(split.weights).size(), 1u);
  const GemmShape weight = of_kind<Gemm>(split.weights)[0].shape;  // as a linear layer writes it
  EXPECT_EQ(weight.m, 256);
  EXPECT_EQ(weight.n, 64);
  EXPECT_EQ(weight.k, 8 * 128);
  EXPECT_EQ(of_kind<Gemm>(split.inputs).size(), 1u);
  EXPECT_EQ(of_kind<Gemm>(of_scores.inputs).size(), 2u);
  EXPECT_TRUE(of_scores.weights.empty());
  // So does their sum over tensor ranks, which share the samples: it cannot begin before they are made.
  const Blocks four = blocks(with({convolution(16, 3), convolution(16, 3)}, {3, 32, 32}, 4));
  const SplitBackward of_convolution = split_backward(four.kinds[1].backward);
  EXPECT_TRUE(of_kind<TensorCollective>(of_convolution.inputs).empty());
  EXPECT_EQ(of_kind<TensorCollective>(of_convolution.weights).size(), 1u);
}

TEST(Network, GradientsOfWeightsLoadRowsOfFeaturesHoweverManySamplesThereAre) {
  NetworkLayer gemm{.kind = LayerKind::gemm};
  gemm.m = 5;
  gemm.n = 256;
  gemm.k = 64;
  Scenario s = with({linear(64), linear(32)}, {48, 1, 1});
  Scenario listed = with({gemm, gemm}, {});
  for (Scenario* of : {&s, &listed}) {
    of->training = {.global_batch = 7, .micro_batch = 7, .sequence = 1, .precision = Precision::fp16};
    const std::vector<Gemm> backward = of_kind<Gemm>(blocks(*of).at(1).backward);
    ASSERT_EQ(backward.size(), 2u);
    EXPECT_EQ(row_alignment(backward[0].shape), 16);  // of the weights
    EXPECT_EQ(row_alignment(backward[1].shape), 16);  // of the input
  }
}

TEST(Network, ListedOperatorsPassOnWhatTheLastGemmMade) {
  NetworkLayer embedding{.kind = LayerKind::elementwise, .parameters = 1000}, gemm{.kind = LayerKind::gemm};
  embedding.bytes = 4096;
  gemm.m = 128;
  gemm.n = 256;
  gemm.k = 64;
  NetworkLayer scores = gemm, softmax{.kind = LayerKind::elementwise};
  scores.parameters = 0;
  scores.batch = 12;
  softmax.bytes = 1000;
  Scenario s = with({embedding, gemm, scores, softmax}, {});
  const Blocks all = blocks(s);
  const std::vector<double> passed{8 * 4 * 128.0 * 64, 8 * 4 * 128.0 * 256, 8 * 4 * 12 * 128.0 * 256,
                                   8 * 4 * 12 * 128.0 * 256};
  for (std::uint32_t unit = 0; unit < passed.size(); ++unit) EXPECT_EQ(all.at(unit).output, passed[unit]) << unit;
  // That is what the stage behind gets, and what a unit keeps that is run again.
  s.recompute = Recompute::full;
  const Blocks again = blocks(s);
  EXPECT_EQ(again.at(0).saved, 0);
  for (std::uint32_t unit = 1; unit < passed.size(); ++unit) EXPECT_EQ(again.at(unit).saved, passed[unit - 1]) << unit;
}

TEST(Network, AGemmOfTwoActivationsIsDoneForEverySample) {
  NetworkLayer scores{.kind = LayerKind::gemm, .parameters = 0};
  scores.m = scores.n = 64;
  scores.k = 16;
  scores.batch = 12;
  const GemmShape shape = of_kind<Gemm>(blocks(with({scores}, {})).kinds[0].forward).at(0).shape;
  EXPECT_EQ(shape.m, 64);
  EXPECT_EQ(shape.batch, 8 * 12);
}

TEST(Network, FullRecomputationKeepsEachUnitsInput) {
  Scenario s = with({convolution(16, 3), convolution(32, 3)});
  s.recompute = Recompute::full;
  const Blocks all = blocks(s);
  EXPECT_EQ(all.kinds[1].saved, 8.0 * 16 * 32 * 32 * 4);
  EXPECT_EQ(all.kinds[1].recompute.size(), all.kinds[1].forward.size());
}

}  // namespace
}  // namespace stepcast::schedules
