#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "schedules/checks/check.h"
#include "schedules/forecast.h"
#include "tests/models/models.h"
#include "tests/schedules/scenarios.h"

namespace stepcast::schedules {
namespace {

double model_flops_of_step(const Scenario& s) {
  for (const Problem& problem : check(s)) ADD_FAILURE() << problem.key << ": " << problem.text;
  const Forecast f = forecast(s, {.advise = false});
  EXPECT_LE(f.mfu * (1 - f.skipped_flops), 1);
  return f.model_flops_per_gpu.value * static_cast<double>(f.gpus) * to_seconds(f.step);
}

Scenario grouped_queries() {
  Scenario s = round_numbers(8);
  s.model = {"llama", Family::llama, 8, 1024, 16, 4, 4096, 50257, ""};
  s.training = {.global_batch = 32, .micro_batch = 2, .sequence = 1024, .precision = Precision::bf16};
  s.training.attention = Attention::flash;
  s.parallelism.data = 8;
  return s;
}

Scenario with_experts(double capacity) {
  Scenario s = round_numbers(16);
  s.model = small_experts();
  s.training.attention = Attention::flash;
  s.parallelism = {.data = 16, .expert = 16};
  if (capacity > 0) s.training.expert_load.capacity = capacity;
  return s;
}

// A vocabulary that is padded, heads of keys and values that tensor ranks hold twice, activations that are made again,
// stages, copies of the model: a step's tokens take as many multiplies.
TEST(ModelFlops, AreThoseOfTheStepsTokensWhateverThePlan) {
  const double alone = model_flops_of_step(grouped_queries());
  const std::function<void(Scenario&)> plans[] = {
      [](Scenario& s) { s.parallelism = {.tensor = 8, .data = 1, .sequence = true}; },
      [](Scenario& s) { s.parallelism = {.pipeline = 4, .data = 2}; },
      [](Scenario& s) {
        s.parallelism = {.pipeline = 4, .data = 2};
        s.pipeline.schedule = "chimera";
      },
      [](Scenario& s) {
        s.parallelism = {.pipeline = 4, .data = 2};
        s.pipeline.schedule = "zb-h1";
      },
      [](Scenario& s) {
        s.parallelism = {.pipeline = 2, .data = 4};
        s.pipeline.schedule = "pipedream";
      },
      [](Scenario& s) { s.parallelism = {.data = 4, .context = 2}; },
      [](Scenario& s) { s.recompute = Recompute::full; },
      [](Scenario& s) {
        s.training.attention = Attention::unfused;
        s.recompute = Recompute::selective;
      },
      [](Scenario& s) { s.data_parallel.zero = 3; },
      [](Scenario& s) { s.data_parallel.local_steps = 4; },
      [](Scenario& s) { s.training.micro_batch = 4; },
  };
  for (std::size_t i = 0; i < std::size(plans); ++i) {
    Scenario s = grouped_queries();
    plans[i](s);
    EXPECT_NEAR(model_flops_of_step(s) / alone, 1, 1e-9) << i;
  }
}

TEST(ModelFlops, CountNoPaddingOfExperts) {
  const double dropless = model_flops_of_step(with_experts(0));
  for (const double capacity : {1.0, 1.25, 4.0})
    EXPECT_NEAR(model_flops_of_step(with_experts(capacity)) / dropless, 1, 1e-9) << capacity;
  Scenario uneven = with_experts(0);
  uneven.training.expert_load = {.spread = 0.8, .seed = 3};
  EXPECT_NEAR(model_flops_of_step(uneven) / dropless, 1, 1e-9);
  Scenario few_tokens = with_experts(0);  // 4 copies of each of 4 tokens for 32 experts: half a row each
  few_tokens.training.sequence = 4;
  const double few = model_flops_of_step(few_tokens);
  few_tokens.training.expert_load.capacity = 4;
  EXPECT_NEAR(model_flops_of_step(few_tokens) / few, 1, 1e-9);
}

TEST(ModelFlops, CountNoTokenThatACapacityDrops) {
  const double all = model_flops_of_step(with_experts(1)), half = model_flops_of_step(with_experts(0.5));
  // Of 16 layers with 4 visits of each of 64 x 1024 tokens.
  const double experts = 16 * 4 * 64 * 1024.0 * 6 * 3 * 1024 * 1024;
  EXPECT_NEAR((all - half) / (experts / 2), 1, 1e-9);
}

TEST(Mfu, FallsWhereExpertsArePadded) { EXPECT_LT(forecast(with_experts(4)).mfu, 0.7 * forecast(with_experts(1)).mfu); }

Scenario network(std::vector<NetworkLayer> layers) {
  Scenario s = round_numbers(1);
  s.model = {};
  s.model.family = Family::operators;
  s.model.network.layers = std::move(layers);
  s.model.layers = std::ssize(s.model.network.layers);
  s.training = {.global_batch = 8, .micro_batch = 8, .sequence = 1, .precision = Precision::fp16};
  s.training.optimizer = Optimizer::none;
  return s;
}

NetworkLayer multiply(std::int64_t size) {
  NetworkLayer layer;
  layer.kind = LayerKind::gemm;
  layer.m = layer.n = layer.k = size;
  return layer;
}

TEST(ModelFlops, OfAnOperatorListAreThoseItGives) {
  const double once = 8 * 2 * 4096.0 * 4096 * 4096;
  NetworkLayer plain = multiply(4096), no_backward = plain, own = plain;
  no_backward.backward.emplace();
  own.backward = std::vector{multiply(4096)};
  EXPECT_DOUBLE_EQ(model_flops_of_step(network({no_backward})), once);
  EXPECT_DOUBLE_EQ(model_flops_of_step(network({own})), 2 * once);
  // The first multiply's input needs no gradient.
  EXPECT_DOUBLE_EQ(model_flops_of_step(network({plain})), 2 * once);
  EXPECT_DOUBLE_EQ(model_flops_of_step(network({plain, plain})), 5 * once);
}

// Every kernel here takes at least its multiplies at the peak; what causal kernels skip is not done.
TEST(Mfu, ExceedsOneForNoScenarioButByWhatCausalKernelsSkip) {
  std::mt19937 random(1);
  const auto pick = [&](std::initializer_list<std::int64_t> of) { return of.begin()[random() % of.size()]; };
  for (int turn = 0; turn < 60; ++turn) {
    const auto gpus = static_cast<std::uint32_t>(pick({1, 2, 4, 8}));
    Scenario s = round_numbers(gpus);
    s.model = {"random",
               pick({0, 1}) != 0 ? Family::llama : Family::gpt,
               4,
               256 * pick({1, 4, 16}),
               16,
               4,
               1024 * pick({1, 8}),
               pick({1000, 50257}),
               ""};
    if (pick({0, 0, 1}) != 0) s.model = small_experts();
    s.training = {.global_batch = 16, .micro_batch = pick({1, 2}), .sequence = pick({64, 1024, 65536})};
    s.training.frozen_layers = pick({0, 0, 3});
    s.training.attention = pick({0, 1}) != 0 ? Attention::flash : Attention::unfused;
    s.cluster.gpu.attention_forward = 0.95;
    s.cluster.gpu.attention_backward = 0.95;
    if (s.model.experts.count > 0 && pick({0, 1}) != 0)
      s.training.expert_load.capacity = 0.25 * static_cast<double>(pick({1, 4, 20}));
    s.parallelism.data = gpus;
    s.parallelism.expert = s.model.experts.count > 0 ? gpus : 1;
    s.recompute = pick({0, 1}) != 0 ? Recompute::full : Recompute::none;
    SCOPED_TRACE(turn);
    model_flops_of_step(s);
  }
}

}  // namespace
}  // namespace stepcast::schedules
