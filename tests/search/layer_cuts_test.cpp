#include "search/layer_cuts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "schedules/checks/check.h"
#include "schedules/forecast.h"
#include "search/search.h"
#include "tests/sanitized.h"
#include "tests/schedules/scenarios.h"

namespace stepcast::search {
namespace {

using namespace schedules;
using Layers = std::vector<std::uint32_t>;

Scenario pipeline_of(std::uint32_t stages, std::int64_t layers, std::int64_t micro_batches) {
  Scenario s = round_numbers(stages);
  s.parallelism.pipeline = stages;
  s.model.layers = layers;
  s.training.global_batch = micro_batches;
  return s;
}

/// Cuts it; what it holds then.
Plan balance(Scenario& s, workload::Machines& machines) {
  cut_evenly(s);
  EXPECT_TRUE(check(s).empty());
  LayerTimes times(machines.of(machine_of(s)));
  return LayerCuts(times).cut(s, machines);
}

Layers balanced(Scenario s) {
  workload::Machines machines;
  balance(s, machines);
  return s.parallelism.layers_per_stage;
}

TEST(LayerCuts, OfStagesWithNothingBesideLayersAreEven) {
  Scenario s = pipeline_of(4, 16, 16);
  s.model.vocab = 64;
  EXPECT_EQ(balanced(s), (Layers{4, 4, 4, 4}));
}

TEST(LayerCuts, ALargeHeadTakesLayersFromTheLastStage) {
  Scenario s = pipeline_of(4, 16, 16);
  s.model.vocab = 256000;
  const Layers layers = balanced(s);
  EXPECT_LT(layers[3], 4u);
  EXPECT_EQ(std::accumulate(layers.begin(), layers.end(), 0u), 16u);
  s.pipeline.virtual_stages = 2;
  s.pipeline.schedule = "interleaved-1f1b";
  const Layers of_chunks = balanced(s);
  ASSERT_EQ(of_chunks.size(), 8u);
  EXPECT_LT(of_chunks[3] + of_chunks[7], 4u);  // the last stage holds these
}

TEST(LayerCuts, LayersThatDoNotDivideAreSharedOutAllTheSame) {
  EXPECT_EQ(balanced(pipeline_of(4, 2, 8)), (Layers{0, 1, 1, 0}));
  Scenario s = pipeline_of(4, 13, 8);
  s.model.vocab = 64;
  EXPECT_EQ(balanced(s), (Layers{3, 4, 3, 3}));  // the first one embeds, too
  s.training.frozen_layers = 6;                  // forward alone
  const Layers frozen = balanced(s);
  EXPECT_GT(frozen.front(), 4u);
}

TEST(LayerCuts, StagesOfFasterGpusGetMoreLayers) {
  Scenario s = pipeline_of(4, 24, 32);
  s.model.vocab = 64;
  OtherGpus fast{s.cluster.gpu, 2};
  fast.gpu.memory_bandwidth = s.cluster.gpu.memory_bandwidth * 2;
  for (auto& [precision, rate] : fast.gpu.peak) rate = rate * 2;
  s.cluster.other = fast;
  EXPECT_EQ(balanced(s), (Layers{4, 4, 8, 8}));
  std::swap(s.cluster.gpu, s.cluster.other->gpu);
  EXPECT_EQ(balanced(s), (Layers{8, 8, 4, 4}));
  // The search tells by simulation: by speed it is faster by about a third.
  Space space = usual_space(s);
  for (std::size_t axis = 0; axis < kAxes; ++axis)
    if (axes()[axis].key != "parallelism.layers_per_stage") space.values[axis] = {axes()[axis].of(s)};
  workload::Machines machines;
  const SearchAnswer answer = search(space, {}, machines);
  ASSERT_EQ(answer.best.size(), 2u);
  EXPECT_EQ(answer.best[0].scenario.parallelism.layers_per_stage, (Layers{8, 8, 4, 4}));
  EXPECT_GT(answer.best[1].forecast.step / answer.best[0].forecast.step, 1.2);
}

TEST(LayerCuts, AStageWithBothKindsGoesByTheSlowerOne) {
  Scenario s = pipeline_of(4, 24, 32);
  s.cluster.gpus = 8;
  s.parallelism.data = 2;
  s.model.vocab = 64;
  OtherGpus fast{s.cluster.gpu, 5};  // of the third stage one is slow
  for (auto& [precision, rate] : fast.gpu.peak) rate = rate * 2;
  fast.gpu.memory_bandwidth = s.cluster.gpu.memory_bandwidth * 2;
  s.cluster.other = fast;
  const Layers layers = balanced(s);
  EXPECT_LE(*std::max_element(layers.begin(), layers.begin() + 3), 5u);
  EXPECT_GE(layers[3], 9u);
}

TEST(LayerCuts, FindACutThatFitsWhereAnEvenOneDoesNot) {
  Scenario s = pipeline_of(4, 16, 16);
  s.model.vocab = 64;
  workload::Machines machines;
  Scenario even = s;
  cut_evenly(even);
  const Plan roomy = plan(even, machines);
  // The first stage has most micro-batches in flight; it gets less room than it takes.
  s.cluster.gpu.memory = {roomy.memory[0].peak().value - 1};
  even.cluster.gpu.memory = s.cluster.gpu.memory;
  ASSERT_TRUE(plan(even, machines).out_of_memory);
  const Plan found = balance(s, machines);
  EXPECT_FALSE(found.out_of_memory);
  EXPECT_LT(s.parallelism.layers_per_stage[0], 4u);
  s.cluster.gpu.memory = {1 << 20};
  EXPECT_TRUE(balance(s, machines).out_of_memory);
}

/// A GPT of one kind of GPU, whose stages have nothing to share out unevenly but an embedding and a head.
Scenario random_pipeline(std::mt19937_64& random) {
  const auto of = [&](std::initializer_list<std::int64_t> choices) {
    return *(choices.begin() + static_cast<std::ptrdiff_t>(random() % choices.size()));
  };
  const std::int64_t stages = of({2, 4, 8});
  Scenario s = pipeline_of(static_cast<std::uint32_t>(stages), stages * of({1, 2, 3, 5}), of({4, 8, 16, 64}));
  s.model.hidden = of({1024, 2048, 4096});
  s.model.ffn = 4 * s.model.hidden;
  s.model.vocab = of({1024, 51200, 128256});
  s.software.pipeline_overlap = random() % 2 == 0 ? PipelineOverlap::yes : PipelineOverlap::no;
  s.software.host_per_kernel = microseconds(of({0, 5}));
  s.recompute = static_cast<Recompute>(random() % 3);
  s.parallelism.data = static_cast<std::uint32_t>(of({1, 2, 4}));
  s.parallelism.tensor = static_cast<std::uint32_t>(of({1, 2}));
  s.cluster.gpus *= s.parallelism.data * s.parallelism.tensor;
  s.training.global_batch *= s.parallelism.data;
  s.data_parallel.zero = static_cast<int>(random() % 2);
  s.software.data_overlap = random() % 2 == 0;
  return s;
}

TEST(LayerCuts, AreNoWorseThanEvenOnesInSimulation) {
  const int cases = stepcast::test::kSanitized ? 20 : 300;
  std::mt19937_64 random(18);
  double alone = 0, with_sums = 0, sum = 0;  // the worst where nothing is summed over data ranks, and where it is
  int unlike = 0;
  workload::Machines machines;
  for (int i = 0; i < cases; ++i) {
    SCOPED_TRACE(i);
    Scenario even = random_pipeline(random), cut = even;
    ASSERT_TRUE(check(even).empty());
    balance(cut, machines);
    const double ratio = forecast(cut, machines).step / forecast(even, machines).step;
    unlike += ratio != 1;
    double& worst = even.parallelism.data == 1 ? alone : with_sums;
    worst = std::max(worst, ratio);
    sum += ratio;
  }
  EXPECT_GT(unlike, cases / 3);
  EXPECT_LE(alone, 1);
  // A cut does not count what data ranks exchange. The worst of these: two layers on two stages, whose head takes as
  // long as a layer. The first stage then holds both layers and the embedding, all of whose gradients are summed in the
  // end.
  EXPECT_LT(with_sums, 1.05);
  EXPECT_LT(sum / cases, stepcast::test::kSanitized ? 0.95 : 0.92);  // of few cases the mean tells less
}

}  // namespace
}  // namespace stepcast::search
