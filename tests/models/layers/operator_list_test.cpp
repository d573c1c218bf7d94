#include "models/layers/operator_list.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "models/cost/kernel_time.h"
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
  return repeated_kernels(layer_operators(s, stack_sizes(s, s.training.sequence, true), {Mixer::attention, kind}),
                          repeated_modules(s));
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

// Transformer Engine makes the norms before other attention and before dense feed-forward blocks inside the multiply
// behind them: Megatron-Core has no norm there that it could repeat.
TEST(RecomputedModules, NormsDropTheirOutputBeforeLatentAttentionAndBeforeExperts) {
  const RecomputedModules norms{.norms = true};
  const double output = kTokens * 2 * kHidden;
  EXPECT_EQ(dropped(norms, FeedForward::experts), 2 * output);
  EXPECT_EQ(dropped(norms, FeedForward::dense), output);
  ASSERT_EQ(repeated(norms, FeedForward::experts).size(), 2u);
  for (const Kernel& kernel : repeated(norms, FeedForward::experts))
    EXPECT_EQ(std::get<Elementwise>(kernel).bytes, 2 * output);  // reads its input, which is kept
  Scenario plain = v3(norms);
  plain.model.latent = {};
  const StackSizes sizes = stack_sizes(plain, plain.training.sequence, true);
  EXPECT_EQ(repeated_kernels(layer_operators(plain, sizes, {Mixer::attention, FeedForward::experts}), norms).size(),
            1u);
  EXPECT_TRUE(repeated_kernels(layer_operators(plain, sizes), norms).empty());
}

// Megatron-Core checkpoints MoELayer.forward: what enters it is the norm's output, which stays.
TEST(RecomputedModules, LayersOfExpertsKeepTheirInputAloneAndExchangeAgain) {
  const RecomputedModules moe{.experts = true};
  const double copies = 8 * kTokens, inner = 2048;
  const double router = kTokens * 256 * 2 * 4, experts = copies * (2 * (kHidden + 3 * inner) + 4),
               shared = kTokens * 2 * 3 * inner;
  EXPECT_EQ(dropped(moe, FeedForward::experts), router + experts + shared);
  EXPECT_EQ(dropped(moe, FeedForward::dense), 0);
  const Kernels again = repeated(moe, FeedForward::experts);
  EXPECT_EQ(multiplied(again), 2 * kTokens * kHidden * 256 + 2 * (copies + kTokens) * 3 * kHidden * inner);
  EXPECT_EQ(std::ranges::count_if(
                again, [](const Kernel& kernel) { return std::holds_alternative<TensorCollective>(kernel); }),
            2);
  EXPECT_TRUE(repeated(moe, FeedForward::dense).empty());
}

TEST(RecomputedModules, SharedExpertsAreRepeatedAloneOrInsideTheirLayer) {
  const RecomputedModules shared{.shared_experts = true}, moe{.experts = true},
      all{.experts_activation = true, .experts = true, .shared_experts = true};
  EXPECT_EQ(dropped(shared, FeedForward::experts), kTokens * 2 * 3 * 2048);
  EXPECT_EQ(multiplied(repeated(shared, FeedForward::experts)), 2 * kTokens * 3 * kHidden * 2048);
  EXPECT_EQ(dropped(all, FeedForward::experts), dropped(moe, FeedForward::experts));
  EXPECT_EQ(repeated(all, FeedForward::experts).size(), repeated(moe, FeedForward::experts).size());
}

// Of a step: one micro-batch of one GPU with all experts, 16 layers. A norm reads and writes its tokens at the memory's
// rate; a shared expert's two multiplies and product, and what is dropped, by the layer.
TEST(RecomputedModules, OfAStepAddTheirPassesAndTakeWhatTheyDrop) {
  Scenario none = round_numbers(1);
  none.model = small_experts();
  none.training.global_batch = 1;
  none.software.dropout = false;
  none.software.host_per_kernel = {};
  none.parallelism = {};
  const auto with = [&](RecomputedModules modules) {
    Scenario s = none;
    s.recompute = Recompute::selective;
    s.recomputed_modules = modules;
    return forecast(s);
  };
  const Forecast kept = forecast(none), norms = with({.norms = true}), shared = with({.shared_experts = true});
  const double layers = 16, tokens = 1024, hidden = 1024, inner = 1024, element = 2;
  const KernelCost cost{none.cluster.gpu, none.software, none.training.precision};
  const Time norm = cost.time(Elementwise{.kind = OperatorKind::rms_norm, .bytes = 2 * tokens * hidden * element});
  EXPECT_EQ(norms.step - kept.step, norm * 16);
  const auto dropped_bytes = [&](const Forecast& with_modules) {
    return static_cast<double>((kept.stages[0].memory.activations - with_modules.stages[0].memory.activations).value);
  };
  EXPECT_EQ(dropped_bytes(norms), layers * tokens * hidden * element);
  EXPECT_EQ(dropped_bytes(shared), layers * tokens * 3 * inner * element);
  EXPECT_GT(shared.step, kept.step);
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
