#include "models/layers/recompute_by_operator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "models/layers/make_block.h"
#include "models/layers/transformer_layer.h"
#include "schedules/forecast.h"
#include "tests/models/models.h"
#include "tests/schedules/scenarios.h"

namespace stepcast::schedules {
namespace {

constexpr double kLlamaTokens = 8192, kLlamaHidden = 4096, kLlamaInner = 14336, kLlamaKeys = 1024,
                 kLlamaScores = kLlamaTokens * 32;

/// Llama 3 8B, whose layer has seven multiplies: queries, keys, values, projection, gate, up, down.
Scenario llama_by_operator(bool compiled, std::uint32_t tensor = 1) {
  Scenario s = round_numbers(8);
  s.model = {"llama", Family::llama, 4, 4096, 32, 8, 14336, 128256, ""};
  s.training.sequence = 8192;
  s.training.precision = Precision::bf16;
  s.training.attention = Attention::flash;
  s.software.recompute_stops_early = true;
  s.software.elementwise_by = compiled ? KernelMaker::inductor : KernelMaker::pytorch;
  s.parallelism = {.tensor = tensor, .data = 8 / tensor, .sequence = tensor > 1};
  s.recompute = Recompute::by_operator;
  return s;
}

OperatorList layer_of(const Scenario& s, FeedForward kind = FeedForward::dense) {
  return layer_operators(s, stack_sizes(s, s.training.sequence, true), {Mixer::attention, kind});
}

Recomputation by_operator(const Scenario& s, FeedForward kind = FeedForward::dense) {
  return recompute_by_operator(s, layer_of(s, kind));
}

std::vector<std::int64_t> multiplied_columns(const Kernels& kernels) {
  std::vector<std::int64_t> all;
  for (const Kernel& kernel : kernels)
    if (const auto* gemm = std::get_if<Gemm>(&kernel)) all.push_back(gemm->shape.n);
  return all;
}

template <class Kind>
bool has_kernel(const Kernels& kernels) {
  return std::ranges::any_of(kernels, [](const Kernel& kernel) { return std::holds_alternative<Kind>(kernel); });
}

std::vector<collectives::Operation> operations(const Kernels& kernels) {
  std::vector<collectives::Operation> all;
  for (const Kernel& kernel : kernels)
    if (const auto* of = std::get_if<TensorCollective>(&kernel)) all.push_back(of->operation);
  return all;
}

// Kept: the input, queries, values, the core's result and its statistics, the gate, and what the last multiply made.
TEST(RecomputeByOperator, KeepsEverySecondMultiplyAndTheCore) {
  const double read =
      kLlamaTokens * 2 * (kLlamaHidden + kLlamaHidden + kLlamaKeys + kLlamaHidden + kLlamaInner) + kLlamaScores * 4;
  const Recomputation eager = by_operator(llama_by_operator(false)), compiled = by_operator(llama_by_operator(true));
  EXPECT_EQ(eager.kept, read + kLlamaTokens * 2 * kLlamaHidden);
  EXPECT_EQ(eager.unread, kLlamaTokens * 2 * kLlamaHidden);
  EXPECT_EQ(compiled.kept, read);
  EXPECT_EQ(compiled.unread, 0);
}

TEST(RecomputeByOperator, RepeatsTheOtherMultipliesAndNotTheCore) {
  for (const bool compiled : {false, true}) {
    const Kernels repeated = by_operator(llama_by_operator(compiled)).repeated;
    EXPECT_EQ(multiplied_columns(repeated), (std::vector<std::int64_t>{1024, 4096, 14336}));  // keys, projection, up
    EXPECT_FALSE(has_kernel<FusedAttention>(repeated));
    EXPECT_TRUE(has_kernel<Elementwise>(repeated));
  }
}

// A composed core has no operator that is kept: it is run again, and its multiplies have no weight to be counted.
TEST(RecomputeByOperator, RepeatsACoreOfSeveralKernels) {
  Scenario s = llama_by_operator(false);
  s.training.attention = Attention::unfused;
  EXPECT_EQ(multiplied_columns(by_operator(s).repeated), (std::vector<std::int64_t>{1024, 8192, 128, 4096, 14336}));
}

TEST(RecomputeByOperator, KeepsWhatTensorRanksScatter) {
  using collectives::Operation;
  const double own = kLlamaTokens * 2 * kLlamaHidden / 4;  // of a rank of the tokens
  const double read =
      own + kLlamaTokens * 2 * (kLlamaHidden + kLlamaKeys + kLlamaHidden + kLlamaInner) / 4 + kLlamaScores / 4 * 4;
  const Recomputation eager = by_operator(llama_by_operator(false, 4)),
                      compiled = by_operator(llama_by_operator(true, 4));
  // The last multiply's partial sums of all tokens, and what was scattered of them: nobody reads either.
  EXPECT_EQ(eager.kept, read + own + kLlamaTokens * 2 * kLlamaHidden + own);
  EXPECT_EQ(eager.unread, kLlamaTokens * 2 * kLlamaHidden + own);
  EXPECT_EQ(compiled.kept, read + own);
  EXPECT_EQ(operations(eager.repeated), (std::vector{Operation::all_gather, Operation::all_gather}));
  EXPECT_EQ(operations(compiled.repeated), operations(eager.repeated));
  // The projection's partial sums are kept as they were scattered: eager makes them again for nothing.
  EXPECT_EQ(multiplied_columns(eager.repeated), (std::vector<std::int64_t>{256, 4096, 3584}));
  EXPECT_EQ(multiplied_columns(compiled.repeated), (std::vector<std::int64_t>{256, 3584}));
}

// Queries down, up, keys and values down, up, projection; the router's and the experts' multiplies do not count; gate,
// up and down of the shared expert.
TEST(RecomputeByOperator, ExpertsAndTheirRouterAreRepeatedTheirTrafficIsNot) {
  Scenario s = llama_by_operator(true);
  s.model = deepseek_v3();
  s.software.grouped_multiply = true;
  s.parallelism.expert = 8;
  const Kernels repeated = by_operator(s, FeedForward::experts).repeated;
  EXPECT_EQ(multiplied_columns(repeated), (std::vector<std::int64_t>{24576, 32768, 256, 4096, 7168, 2048}));
  EXPECT_TRUE(operations(repeated).empty());
  // What comes back from the experts is kept, whether a shared expert's multiplies follow it or not.
  const auto exchanged = [&] {
    s.parallelism.expert = 8;
    const double some = by_operator(s, FeedForward::experts).kept;
    s.parallelism.expert = 1;
    return some - by_operator(s, FeedForward::experts).kept;
  };
  const double with_shared = exchanged();
  EXPECT_EQ(with_shared, 2 * 8 * kLlamaTokens * 7168 * 2);
  s.model.experts.shared_ffn = 0;
  EXPECT_EQ(exchanged(), with_shared);
}

TEST(RecomputeByOperator, KeepsWhatUlyssesExchanges) {
  Scenario s = llama_by_operator(true);
  const double alone = by_operator(s).kept;
  s.parallelism.context = 2;
  s.parallelism.context_method = ContextMethod::ulysses;
  const Recomputation two = by_operator(s);
  // Half of the tokens; queries, keys, values and the result once more.
  EXPECT_EQ(two.kept, alone / 2 + kLlamaTokens / 2 * 2 * (kLlamaHidden + 2 * kLlamaKeys + kLlamaHidden));
  EXPECT_EQ(two.unread, kLlamaTokens / 2 * 2 * kLlamaHidden);
  EXPECT_TRUE(operations(two.repeated).empty());
}

TEST(RecomputeByOperator, DropsPartialSumsThatAreJoinedAndScattered) {
  Scenario s = llama_by_operator(true, 4);
  s.parallelism.sequence = false;
  s.parallelism.tensor_method = TensorMethod::reduce_output;
  EXPECT_LT(by_operator(s).kept, saved_bytes(layer_of(s)));
}

// A norm behind the last multiply reads its result, so nothing is left out.
TEST(RecomputeByOperator, ANormBehindALayerReadsItsLastMultiply) {
  Scenario s = llama_by_operator(false);
  s.model.variations.post_norms = true;
  EXPECT_EQ(by_operator(s).unread, 0);
  s.recompute = Recompute::full;
  Scenario without = s;
  without.model.variations.post_norms = false;
  const auto repeated = [](const Scenario& of) {
    return multiplied_columns(layer_block(of, "layer", layer_of(of), 0).recompute).size();
  };
  EXPECT_EQ(repeated(s), 4u);  // queries with keys and values, projection, gate with up, down
  EXPECT_EQ(repeated(without), 3u);
}

// Ranks in depth share a weight, which is whole while it is at work, whatever is recomputed.
TEST(RecomputeByOperator, HasAWeightOfRanksInDepthWholeAtWork) {
  Scenario s = llama_by_operator(false, 2);
  s.parallelism.sequence = false;
  s.parallelism.tensor_grid = TensorGrid{.rows = 1, .columns = 1, .depth = 2};
  const OperatorList list = layer_of(s);
  const Recomputation kept = recompute_by_operator(s, list);
  const double rest = std::max(0.0, saved_bytes(list) - (kept.kept - kept.unread)) + gradient_bytes(list);
  EXPECT_EQ(layer_block(s, "layer", layer_of(s), 0).working, rest + 2 * largest_weight(list) * 2);
}

TEST(RecomputeByOperator, IsBetweenNoneAndFullInTimeAndMemory) {
  for (const bool compiled : {false, true})
    for (const std::uint32_t tensor : {1u, 4u}) {
      Scenario s = llama_by_operator(compiled, tensor);
      const Forecast some = forecast(s);
      s.recompute = Recompute::none;
      const Forecast none = forecast(s);
      s.recompute = Recompute::full;
      const Forecast full = forecast(s);
      EXPECT_LT(none.step, some.step);
      EXPECT_LT(some.step, full.step);
      EXPECT_GT(none.stages[0].memory.activations, some.stages[0].memory.activations);
      EXPECT_GT(some.stages[0].memory.activations, full.stages[0].memory.activations);
    }
}

}  // namespace
}  // namespace stepcast::schedules
