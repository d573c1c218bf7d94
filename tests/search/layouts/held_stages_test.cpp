#include "search/layouts/held_stages.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "search/layouts/unsplit.h"
#include "sim/input_error.h"
#include "tests/sanitized.h"
#include "tests/schedules/scenarios.h"
#include "tests/search/layouts/solver.h"

namespace stepcast::search {
namespace {

using namespace schedules;

/// Four layers on one node, with samples and tokens to share.
Scenario four_layers() {
  Scenario s = round_numbers(8);
  s.model.layers = 4;
  s.training.global_batch = 32;
  s.training.micro_batch = 1;
  s.parallelism.data = 8;
  s.parallelism.sequence = true;
  return s;
}

Scenario four_layers_with_experts() {
  Scenario s = four_layers();
  s.model.name = "small, with experts";
  s.model.family = Family::moe;
  s.model.experts = {.count = 8, .active = 2, .ffn = 8192};
  s.recompute = Recompute::full;
  return s;
}

/// A network whose last convolutions have most of the weights.
Scenario four_convolutions() {
  Scenario s = round_numbers(8);
  s.model = {.name = "four", .family = Family::cnn, .layers = 4, .source = ""};
  s.model.network.input = {64, 56, 56};
  for (const std::int64_t channels : {64, 64, 1024, 2048})
    s.model.network.layers.push_back({.kind = LayerKind::convolution,
                                      .out = channels,
                                      .kernel_height = 3,
                                      .kernel_width = 3,
                                      .stride = channels == 1024 ? 4 : 1,
                                      .norm = true});
  s.training = {.global_batch = 64, .micro_batch = 1, .precision = Precision::fp16};
  s.parallelism.data = 8;
  return s;
}

class HeldStages : public testing::Test {
 protected:
  void SetUp() override {
    if (tested_solver() == nullptr) GTEST_SKIP() << "built without CBC (Debian: coinor-libcbc-dev)";
  }
  std::optional<LayoutPlan> best(const Scenario& s) { return best_layout_plan(s, {}, tested_solver(), machines_); }
  HeldPlan held(const Scenario& s, const std::vector<HeldStage>& stages) {
    return held_layout_plan(s, stages, "--stages", tested_solver(), machines_);
  }
  std::string error(const std::vector<HeldStage>& stages) {
    try {
      held(four_layers(), stages);
    } catch (const InputError& problem) {
      return problem.what();
    }
    return "none";
  }

  workload::Machines machines_;
};

TEST_F(HeldStages, OfTheBestPlanTakeItsTime) {
  for (const Scenario& s : {four_layers(), four_layers_with_experts(), four_convolutions()}) {
    SCOPED_TRACE(s.model.name);
    const auto found = best(s);
    ASSERT_TRUE(found);
    std::vector<HeldStage> stages, without_meshes;
    for (const LayoutStage& stage : found->stages) {
      stages.push_back({stage.layers, stage.run.shape.devices(), {.shape = stage.run.shape}});
      without_meshes.push_back({stage.layers, stage.run.shape.devices(), {}});
    }
    for (const auto& asked : {stages, without_meshes}) {
      const HeldPlan again = held(s, asked);
      ASSERT_TRUE(again.plan);
      EXPECT_EQ(again.plan->time, found->time);
      ASSERT_EQ(again.plan->stages.size(), found->stages.size());
      for (std::size_t i = 0; i < stages.size(); ++i) {
        EXPECT_EQ(again.plan->stages[i].run.bytes, found->stages[i].run.bytes);
        EXPECT_EQ(again.plan->stages[i].held, found->stages[i].held);
      }
    }
  }
}

/// Every way to share out layers and GPUs.
void every_cut(std::uint32_t layers, std::uint32_t gpus, std::vector<HeldStage>& so_far,
               std::vector<std::vector<HeldStage>>& out) {
  if (layers == 0 || gpus == 0) {
    if (layers == 0 && gpus == 0) out.push_back(so_far);
    return;
  }
  for (std::uint32_t own = 1; own <= layers; ++own)
    for (const std::uint32_t size : {1u, 2u, 4u, 8u}) {
      if (size > gpus) continue;
      so_far.push_back({own, size, {}});
      every_cut(layers - own, gpus - size, so_far, out);
      so_far.pop_back();
    }
}

TEST_F(HeldStages, NoneAreFasterThanTheBest) {
  LEFT_TO_RELEASE();
  std::vector<std::vector<HeldStage>> cuts;
  std::vector<HeldStage> so_far;
  every_cut(4, 4, so_far, cuts);
  EXPECT_EQ(cuts.size(), 14u);
  for (Scenario s : {four_layers(), four_convolutions()}) {
    s.cluster.gpus = 4;
    s.parallelism.data = 4;
    s.parallelism.sequence = false;
    SCOPED_TRACE(s.model.name);
    const auto roomy = best(s);
    ASSERT_TRUE(roomy);
    for (const bool tight : {false, true}) {
      SCOPED_TRACE(tight);
      if (tight) s.cluster.gpu.memory = {roomy->stages.front().run.bytes.value * 2 / 3};
      const auto found = best(s);
      std::optional<Time> least;
      for (const auto& cut : cuts)
        if (const HeldPlan plan = held(s, cut); plan.plan && (!least || plan.plan->time < *least))
          least = plan.plan->time;
      ASSERT_EQ(found.has_value(), least.has_value());
      if (!found) continue;
      EXPECT_EQ(found->time, *least);
    }
  }
}

TEST_F(HeldStages, ShareSamplesAsTheyAreHeld) {
  const Scenario s = four_layers();
  const auto ways_of_samples = [&](SampleAxes axes) {
    const HeldPlan plan = held(s, {{4, 8, {.shape = MeshShape{2, 4}, .samples = axes}}});
    std::uint32_t most = 0, least = 8;
    for (const BlockLayouts& block : plan.plan->stages.front().run.blocks)
      for (const UnitLayout& layout : block.chosen) {
        const std::uint32_t ways =
            (layout.work[0] == WorkSplit::samples ? 2u : 1u) * (layout.work[1] == WorkSplit::samples ? 4u : 1u);
        most = std::max(most, ways);
        least = std::min(least, ways);
      }
    EXPECT_EQ(most, least);
    return std::pair(most, plan.plan->time);
  };
  const auto [all, all_time] = ways_of_samples(SampleAxes::all);
  const auto [rows, rows_time] = ways_of_samples(SampleAxes::rows);
  const auto [none, none_time] = ways_of_samples(SampleAxes::none);
  EXPECT_EQ(all, 8u);
  EXPECT_EQ(rows, 2u);
  EXPECT_EQ(none, 1u);
  const Time free = held(s, {{4, 8, {.shape = MeshShape{2, 4}}}}).plan->time;
  for (const Time time : {all_time, rows_time, none_time}) EXPECT_GE(time, free);
}

TEST_F(HeldStages, ThatDoNotFitMissWhatMakesThemFit) {
  Scenario s = four_convolutions();
  s.cluster.gpu.memory = {40'000'000};
  const std::vector<HeldStage> stages{{2, 4, {}}, {2, 4, {}}};
  const HeldPlan tight = held(s, stages);
  EXPECT_FALSE(tight.plan);
  ASSERT_EQ(tight.shortages.size(), 1u);
  EXPECT_EQ(tight.shortages.front().stage, 1u);
  const Bytes missing = tight.shortages.front().missing;
  EXPECT_GT(missing, Bytes{});
  s.cluster.gpu.memory += missing;
  EXPECT_TRUE(held(s, stages).plan);
  s.cluster.gpu.memory = {s.cluster.gpu.memory.value - 1};
  EXPECT_EQ(held(s, stages).shortages.front().missing, Bytes{1});
}

TEST_F(HeldStages, ThatDoNotAddUpAreRefused) {
  EXPECT_EQ(error({{3, 8, {}}}),
            "--stages: found 3 layers in all, expected the model's 4; the last stage would have 4");
  EXPECT_EQ(error({{3, 4, {}}, {3, 4, {}}}),
            "--stages: found 6 layers in all, expected the model's 4; the last stage would have 1");
  EXPECT_EQ(error({{4, 4, {}}, {3, 4, {}}}), "--stages: found 7 layers in all, expected the model's 4");
  EXPECT_EQ(error({{2, 4, {}}, {2, 2, {}}}),
            "--stages: found 6 GPUs in all, expected the cluster's 8; the last stage would have 4");
  EXPECT_EQ(error({{2, 5, {}}, {2, 3, {}}}),
            "--stages: found 5 GPUs of stage 0, expected one of 1, 2, 4, 8; the nearest: 4");
  EXPECT_EQ(error({{4, 8, {.shape = MeshShape{2, 2}}}}),
            "--stages: found mesh 2x2 of stage 0, expected one of 1x8, 4x2, 2x4 for its 8 GPUs");
  Scenario s = four_layers();
  s.parallelism.data = 2;
  s.parallelism.tensor = 4;
  EXPECT_THROW(held(s, {{4, 8, {.shape = MeshShape{4, 2}, .samples = SampleAxes::rows}}}), InputError);
  EXPECT_TRUE(held(s, {{4, 8, {.shape = MeshShape{2, 4}, .samples = SampleAxes::rows}}}).plan);
}

}  // namespace
}  // namespace stepcast::search
