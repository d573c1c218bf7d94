#include "search/layouts/layouts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "models/layers/model_blocks.h"
#include "schedules/forecast.h"
#include "schedules/plan/plan.h"
#include "search/layouts/unsplit.h"
#include "tests/schedules/scenarios.h"
#include "tests/search/layouts/solver.h"

namespace stepcast::search {
namespace {

using namespace schedules;

/// What a kind of block's first operator of a kind has, of the only stage or the first.
std::string layout_of(const LayoutPlan& plan, OperatorKind kind, std::uint32_t which = 0) {
  const LayoutStage& stage = plan.stages.front();
  for (const BlockLayouts& block : stage.run.blocks)
    for (std::size_t i = 0; i < block.units.size(); ++i)
      if (plan.blocks.kinds[block.kind].operators[block.units[i].first].kind == kind && which-- == 0)
        return layout_text(block.chosen[i], block.units[i], stage.run.shape);
  return "nowhere";
}

/// A large layer on one node, whose batch of one sample cannot be split.
Scenario one_sample() {
  Scenario s = round_numbers(8);
  s.model.hidden = 8192;
  s.model.ffn = 32768;
  s.model.heads = s.model.kv_heads = 64;
  s.model.layers = 4;
  s.parallelism.tensor = 8;
  return s;
}

class Layouts : public testing::Test {
 protected:
  void SetUp() override {
    if (tested_solver() == nullptr) GTEST_SKIP() << "built without CBC (Debian: coinor-libcbc-dev)";
  }
  std::optional<LayoutPlan> best(const Scenario& s, const LayoutOptions& options = {}) {
    return best_layout_plan(s, options, tested_solver(), machines_);
  }
  /// How far the time of a plan is from that of the nearest plan of a scenario, which is simulated.
  double off_from_step(const LayoutPlan& plan) { return plan.time / forecast(*plan.scenario, machines_).step - 1; }

  workload::Machines machines_;
};

TEST_F(Layouts, OfOneSampleOnANodeAreMegatronsColumnsThenRows) {
  const auto plan = best(one_sample(), {.mesh = MeshShape{1, 8}});
  ASSERT_TRUE(plan);
  EXPECT_EQ(layout_of(*plan, OperatorKind::query_key_value), "columns over 8");
  EXPECT_EQ(layout_of(*plan, OperatorKind::head_gradients), "heads over 8");
  EXPECT_EQ(layout_of(*plan, OperatorKind::attention_projection), "rows over 8");
  EXPECT_EQ(layout_of(*plan, OperatorKind::feed_forward_in), "columns over 8");
  EXPECT_EQ(layout_of(*plan, OperatorKind::feed_forward_out), "rows over 8");
  EXPECT_EQ(layout_of(*plan, OperatorKind::layer_norm), "whole");
  ASSERT_TRUE(plan->scenario);
  EXPECT_EQ(plan->scenario->parallelism.tensor, 8u);
  EXPECT_FALSE(plan->scenario->parallelism.sequence);
  // Megatron's step gathers the logits' loss and looks words up otherwise: an embedding in three kernels.
  EXPECT_NEAR(off_from_step(*plan), 0, 0.02);
}

TEST_F(Layouts, WithTokensSplitAreMegatronsWithSequenceParallelism) {
  Scenario s = one_sample();
  s.parallelism.sequence = true;
  const auto plan = best(s, {.mesh = MeshShape{1, 8}});
  ASSERT_TRUE(plan);
  EXPECT_EQ(layout_of(*plan, OperatorKind::layer_norm), "tokens over 8");
  EXPECT_EQ(layout_of(*plan, OperatorKind::feed_forward_in), "columns over 8");
  EXPECT_EQ(layout_of(*plan, OperatorKind::feed_forward_out), "rows, sums by tokens over 8");
  ASSERT_TRUE(plan->scenario);
  EXPECT_TRUE(plan->scenario->parallelism.sequence);
  EXPECT_NEAR(off_from_step(*plan), 0, 0.02);
}

TEST_F(Layouts, OfASmallModelWithALargeBatchSplitSamples) {
  Scenario s = round_numbers(8);
  s.model.layers = 4;
  s.model.hidden = 1024;
  s.model.ffn = 4096;
  s.training.global_batch = 256;
  s.training.micro_batch = 32;
  s.parallelism.data = 8;
  s.software.data_overlap = false;  // layouts hide no sums of gradients
  const auto plan = best(s, {.stages = 1});
  ASSERT_TRUE(plan);
  for (const OperatorKind kind :
       {OperatorKind::query_key_value, OperatorKind::head_gradients, OperatorKind::attention_projection,
        OperatorKind::feed_forward_in, OperatorKind::feed_forward_out, OperatorKind::layer_norm})
    EXPECT_EQ(layout_of(*plan, kind), "samples over 8");
  ASSERT_TRUE(plan->scenario);
  EXPECT_EQ(plan->scenario->parallelism.data, 8u);
  EXPECT_NEAR(off_from_step(*plan), 0, 0.02);
}

TEST_F(Layouts, ShareOutExperts) {
  Scenario s = round_numbers(8);
  s.model.family = Family::moe;
  s.model.layers = 2;
  s.model.hidden = 4096;
  s.model.heads = s.model.kv_heads = 32;
  s.model.experts = {.count = 8, .active = 2, .ffn = 14336};
  s.training.global_batch = 512;
  s.parallelism.data = 8;
  s.parallelism.expert = 8;
  const auto plan = best(s, {.stages = 1});
  ASSERT_TRUE(plan);
  EXPECT_EQ(layout_of(*plan, OperatorKind::experts_in), "experts over 8");
  EXPECT_EQ(layout_of(*plan, OperatorKind::experts_out), "experts over 8");
  EXPECT_EQ(layout_of(*plan, OperatorKind::query_key_value), "samples over 8");
  ASSERT_TRUE(plan->scenario);
  EXPECT_EQ(plan->scenario->parallelism.expert, 8u);
  EXPECT_EQ(plan->scenario->parallelism.data, 8u);
}

/// Two large convolutions: of a large image with few channels, and of a small one with many.
Scenario two_convolutions() {
  Scenario s = round_numbers(8);
  s.model = {.name = "two", .family = Family::cnn, .layers = 4, .source = ""};
  s.model.network.input = {64, 112, 112};
  s.model.network.layers = {
      {.kind = LayerKind::convolution, .out = 64, .kernel_height = 3, .kernel_width = 3, .norm = true, .relu = true},
      {.kind = LayerKind::convolution, .out = 64, .kernel_height = 3, .kernel_width = 3, .norm = true, .relu = true},
      {.kind = LayerKind::convolution, .out = 2048, .kernel_height = 3, .kernel_width = 3, .stride = 16, .norm = true},
      {.kind = LayerKind::convolution, .out = 2048, .kernel_height = 3, .kernel_width = 3, .norm = true, .relu = true}};
  s.training = {.global_batch = 6400, .micro_batch = 8, .precision = Precision::fp16};
  s.parallelism.data = 8;
  return s;
}

TEST_F(Layouts, OfConvolutionsSplitSamplesEarlyAndChannelsLateWhereMemoryAsks) {
  Scenario s = two_convolutions();
  const auto roomy = best(s, {.stages = 1});
  ASSERT_TRUE(roomy);
  const Bytes roomy_bytes = roomy->stages.front().run.bytes;
  for (std::uint32_t i = 0; i < 4; ++i) EXPECT_EQ(layout_of(*roomy, OperatorKind::convolution, i), "samples over 8");
  s.cluster.gpu.memory = {roomy_bytes.value / 2};
  const auto tight = best(s, {.stages = 1});
  ASSERT_TRUE(tight);
  EXPECT_EQ(layout_of(*tight, OperatorKind::convolution, 0), "samples over 8");
  EXPECT_EQ(layout_of(*tight, OperatorKind::convolution, 1), "samples over 8");
  EXPECT_TRUE(layout_of(*tight, OperatorKind::convolution, 3).find("channels") != std::string::npos)
      << layout_of(*tight, OperatorKind::convolution, 3);
  EXPECT_LE(tight->stages.front().run.bytes, s.cluster.gpu.memory);
  EXPECT_GE(tight->time, roomy->time);
  s.cluster.gpu.memory = {roomy_bytes.value / 100};
  EXPECT_FALSE(best(s, {.stages = 1}));
}

TEST_F(Layouts, TakeTheMemoryThatThePlanTakes) {
  Scenario s = one_sample();
  const auto plan = best(s, {.mesh = MeshShape{1, 8}});
  ASSERT_TRUE(plan && plan->scenario);
  const Bytes peak = schedules::plan(*plan->scenario, machines_).memory.front().peak();
  // Of what blocks take while they are at work, only the most counts at once; layouts count that of each kind.
  EXPECT_GE(plan->stages.front().run.bytes, peak);
  EXPECT_LE(plan->stages.front().run.bytes / peak, 1.12);
}

TEST_F(Layouts, OfOneGpuTakeTheMemoryThatItsPlanTakes) {
  Scenario s = two_convolutions();
  s.cluster.gpus = 1;
  s.parallelism.data = 1;
  for (const Recompute recompute : {Recompute::none, Recompute::full}) {
    s.recompute = recompute;
    const auto plan = best(s);
    ASSERT_TRUE(plan);
    const Bytes peak = schedules::plan(s, machines_).memory.front().peak();
    // The input of a block at work counts twice, and what blocks behind it kept, which has gone by then, counts too.
    EXPECT_GE(plan->stages.front().run.bytes, peak);
    EXPECT_LE(plan->stages.front().run.bytes / peak, 1.04);
  }
}

TEST_F(Layouts, DoNotDependOnWhatElseWasAsked) {
  const Scenario s = one_sample();
  const Scenario whole = unsplit(s);
  const Blocks model = blocks(whole);
  const auto machine = machines_.of(machine_of(s));
  RunSearch one(whole, model, *machine, tested_solver(), false), other(whole, model, *machine, tested_solver(), false);
  const BlockRange early{1, 2}, late{2, 2};
  const auto alone = one.best(early, 4, 1);
  other.best({0, 6}, 8, 2);
  other.best({0, 3}, 4, 1);
  const auto among = other.best(late, 4, 1);
  ASSERT_TRUE(alone && among);
  EXPECT_EQ(alone->time, among->time);
  EXPECT_EQ(alone->bytes, among->bytes);
  EXPECT_EQ(alone->shape, among->shape);
  for (const std::uint32_t devices : {1u, 2u, 4u, 8u})
    for (const std::uint32_t held : {1u, 3u}) {
      RunSearch fresh(whole, model, *machine, tested_solver(), false);
      const auto bound = fresh.bound(early, devices, held);
      const auto exact = fresh.best(early, devices, held);
      ASSERT_TRUE(bound && exact);
      EXPECT_LE(*bound, exact->time);
      EXPECT_EQ(fresh.bound(early, devices, held), exact->time);
    }
}

TEST(LayoutsOfUnits, SplitEveryKernelOfALayer) {
  Scenario s = one_sample();
  const Scenario whole = unsplit(s);
  const Blocks model = blocks(whole);
  const Block& layer = model.kinds[1];
  const BlockUnits units = layout_units(layer, whole, {.bytes = layer.output, .features = whole.model.hidden});
  std::uint32_t operators = 0;
  std::size_t kernels = 0;
  for (const LayoutUnit& unit : units.units) {
    EXPECT_EQ(unit.first, operators);
    for (std::uint32_t place = unit.first; place < unit.first + unit.count; ++place)
      kernels += forward_of(layer, place).size() + backward_of(layer, place).size();
    operators += unit.count;
  }
  EXPECT_EQ(operators, layer.operators.size());
  EXPECT_EQ(kernels, layer.forward.size() + layer.backward.size());
  EXPECT_EQ(result_of(units).bytes, layer.output);
  // The residuals go past each half.
  EXPECT_EQ(units.inputs.size(), units.units.size() - 1 + 2);
}

TEST(LayoutsOfTensors, ConvertByGathersAndExchanges) {
  const Scenario s = round_numbers(8);
  workload::Machines machines;
  const auto machine = machines.of(machine_of(s));
  const Mesh mesh(s, *machine, {2, 4});
  constexpr double kBytes = 1 << 26;
  using enum SharedDimension;
  const auto time = [&](TensorLayout from, TensorLayout to) { return conversion_time(mesh, from, to, kBytes); };
  for (const SharedDimension one : kSharedDimensions) {
    EXPECT_EQ(time({one, one}, {one, one}), Time{});
    EXPECT_EQ(time({nothing, nothing}, {one, nothing}), Time{});  // each cuts out its own
  }
  using collectives::Operation;
  EXPECT_EQ(time({samples, nothing}, {nothing, nothing}),
            mesh.time(MeshAxis::down_columns, Operation::all_gather, kBytes));
  EXPECT_EQ(time({samples, samples}, {nothing, nothing}), mesh.time(MeshAxis::all, Operation::all_gather, kBytes));
  EXPECT_EQ(time({nothing, samples}, {nothing, experts}),
            mesh.time(MeshAxis::along_rows, Operation::all_to_all, kBytes / 4));
  EXPECT_EQ(time({samples, features}, {samples, nothing}),
            mesh.time(MeshAxis::along_rows, Operation::all_gather, kBytes / 2));
  // What is cut first is less to gather.
  EXPECT_EQ(time({nothing, samples}, {features, nothing}),
            mesh.time(MeshAxis::along_rows, Operation::all_gather, kBytes / 2));
}

TEST(StageSizes, FillNodesAndDivideTheCluster) {
  EXPECT_EQ(stage_sizes(8, 32), (std::vector<std::uint32_t>{1, 2, 4, 8, 16, 32}));
  EXPECT_EQ(stage_sizes(8, 96), (std::vector<std::uint32_t>{2, 4, 8, 16, 24, 32, 48, 96}));
  EXPECT_EQ(stage_sizes(6, 12), (std::vector<std::uint32_t>{1, 2, 6, 12}));
  EXPECT_EQ(stage_sizes(8, 4), (std::vector<std::uint32_t>{1, 2, 4}));
  EXPECT_EQ(stage_sizes(4, 1024).front(), 16u);
}

TEST(MeshShapes, AreARowOrRectanglesOfRowsInANode) {
  EXPECT_EQ(mesh_shapes(1, 8), (std::vector<MeshShape>{{1, 1}}));
  EXPECT_EQ(mesh_shapes(8, 8), (std::vector<MeshShape>{{1, 8}, {4, 2}, {2, 4}}));
  EXPECT_EQ(mesh_shapes(32, 8), (std::vector<MeshShape>{{1, 32}, {16, 2}, {8, 4}, {4, 8}}));
}

}  // namespace
}  // namespace stepcast::search
