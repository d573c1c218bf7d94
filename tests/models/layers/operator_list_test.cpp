#include "models/layers/operator_list.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "models/layers/blocks.h"
#include "models/layers/transformer_layer.h"
#include "models/layers/writer.h"
#include "schedules/forecast.h"
#include "tests/models/models.h"
#include "tests/schedules/saved.h"
#include "tests/schedules/scenarios.h"

namespace stepcast::schedules {
namespace {

constexpr double kTokens = 4096, kHidden = 7168, kHeads = 128, kFfn = 18432;

Scenario v3(RecomputedModules modules) {
  Scenario s = round_numbers(8);
  s.model = deepseek_v3();
  s.training.sequence = 4096;
  s.training.attention = Attention::flash;
  s.software.dropout = false;
  s.parallelism = {.tensor = 1, .pipeline = 1, .data = 8, .expert = 8};
  s.recompute = Recompute::selective;
  s.recomputed_modules = modules;
  return s;
}

/// Bytes that a layer keeps less than without recomputation.
double dropped(RecomputedModules modules, FeedForward kind) {
  const Scenario s = v3(modules);
  const StackSizes sizes = stack_sizes(s, s.training.sequence, true);
  return saved_activation_bytes(s, sizes, Recompute::none, kind) -
         saved_activation_bytes(s, sizes, Recompute::selective, kind);
}

Kernels repeated(RecomputedModules modules, FeedForward kind) {
  const Scenario s = v3(modules);
  return repeated_kernels(layer_operators(s, stack_sizes(s, s.training.sequence, true), kind), repeated_modules(s));
}

double multiplied(const Kernels& operators) {
  double flops = 0;
  for (const Kernel& op : operators)
    if (const auto* gemm = std::get_if<Gemm>(&op)) flops += gemm->shape.flops().value;
  return flops;
}

// Megatron-Core checkpoints qkv_up_proj_and_rope_apply: it keeps the low-rank results and projects them up again.
TEST(RecomputedModules, LatentUpsDropWhatIsProjectedAndItsNorms) {
  const RecomputedModules ups{.latent_ups = true};
  const double queries_keys_values = kHeads * (192 + 192 + 128), low_ranks = 1536 + 512;
  for (const FeedForward kind : {FeedForward::dense, FeedForward::experts})
    EXPECT_EQ(dropped(ups, kind), kTokens * 2 * (queries_keys_values + low_ranks));
  EXPECT_EQ(multiplied(repeated(ups, FeedForward::dense)), 2 * kTokens * kHeads * (1536 * 192 + 512 * 256));
}

TEST(RecomputedModules, LatentUpsWithoutALowRankOfQueriesProjectThemFromTheInput) {
  Scenario s = v3({.latent_ups = true});
  s.model.latent.query_rank = 0;
  const Kernels again =
      repeated_kernels(layer_operators(s, stack_sizes(s, s.training.sequence, true)), repeated_modules(s));
  EXPECT_EQ(multiplied(again), 2 * kTokens * kHeads * (kHidden * 192 + 512 * 256));
}

TEST(RecomputedModules, FeedForwardBlocksKeepTheirInputAlone) {
  const RecomputedModules mlp{.feed_forward = true};
  EXPECT_EQ(dropped(mlp, FeedForward::dense), kTokens * 2 * (kHidden + 3 * kFfn));
  EXPECT_EQ(multiplied(repeated(mlp, FeedForward::dense)), 2 * kTokens * 3 * kHidden * kFfn);
  EXPECT_EQ(dropped(mlp, FeedForward::experts), 0);  // moe would be another module
  EXPECT_TRUE(repeated(mlp, FeedForward::experts).empty());
}

TEST(RecomputedModules, ExpertsActivationDropsOneOfThreeInnerWidths) {
  const RecomputedModules activation{.experts_activation = true};
  EXPECT_EQ(dropped(activation, FeedForward::experts), 8 * kTokens * 2 * 2048);
  EXPECT_EQ(repeated(activation, FeedForward::experts).size(), 1u);
  EXPECT_EQ(multiplied(repeated(activation, FeedForward::experts)), 0);
  EXPECT_EQ(dropped(activation, FeedForward::dense), 0);
}

TEST(RecomputedModules, OfTheAttentionCoreAloneAreSelectiveRecomputation) {
  Scenario named = v3({.attention_core = true}), usual = named;
  named.training.attention = usual.training.attention = Attention::unfused;
  usual.recomputed_modules.reset();
  const Forecast a = forecast(named), b = forecast(usual);
  EXPECT_EQ(a.step, b.step);
  EXPECT_EQ(a.stages[0].memory.peak(), b.stages[0].memory.peak());
}

TEST(RecomputedModules, AddUpInTimeAndMemory) {
  Scenario none = v3({});
  none.recompute = Recompute::none;
  const Forecast kept = forecast(none), ups = forecast(v3({.latent_ups = true})),
                 both = forecast(v3({.latent_ups = true, .feed_forward = true}));
  EXPECT_LT(kept.step, ups.step);
  EXPECT_LT(ups.step, both.step);
  EXPECT_GT(kept.stages[0].memory.activations, ups.stages[0].memory.activations);
  EXPECT_GT(ups.stages[0].memory.activations, both.stages[0].memory.activations);
}

TEST(OperatorList, AKernelIsOfTheOperatorThatRunsIt) {
  const Scenario s = v3({});
  const StackSizes sizes = stack_sizes(s, s.training.sequence, true);
  OperatorList list;
  Writer w(s, sizes, list);
  w.begin(OperatorKind::router);
  w.forward.run(Elementwise{.kind = OperatorKind::softmax, .bytes = 8});
  w.backward.run(Gemm{.shape = {2, 3, 4}});
  ASSERT_EQ(list.forward.size(), 1u);
  ASSERT_EQ(list.backward.size(), 1u);
  EXPECT_EQ(kind(list.forward.front()), OperatorKind::router);
  EXPECT_EQ(kind(list.backward.front()), OperatorKind::router);
}

}  // namespace
}  // namespace stepcast::schedules
