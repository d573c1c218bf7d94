#include "models/layers/delta_rule.h"

#include <gtest/gtest.h>

#include "models/layers/transformer_layer.h"
#include "tests/models/models.h"
#include "tests/schedules/scenarios.h"

namespace stepcast::schedules {
namespace {

struct DeltaRules : testing::Test {
  static constexpr double kHidden = 1024, kTokens = 1024, kHeads = 32, kKeyHeads = 16, kKey = 128, kValue = 128;
  static constexpr double kKeys = 2 * kKeyHeads * kKey, kInner = kHeads * kValue, kIn = kKeys + 2 * kInner + 2 * kHeads;

  Scenario s = [] {
    Scenario one = round_numbers(1);
    one.model.family = Family::llama;
    one.model.hidden = 1024;
    one.model.variations.pattern = *layer_pattern("G");
    one.model.delta_net = {.heads = 32, .key_heads = 16};
    one.training.micro_batch = 1;
    one.training.global_batch = 1;
    return one;
  }();
  OperatorList layer() const {
    return layer_operators(s, stack_sizes(s, s.training.sequence, true), {Mixer::delta_net, FeedForward::none});
  }
};

std::vector<ChunkProducts> products_of(const Kernels& kernels) {
  std::vector<ChunkProducts> out;
  for (const Kernel& kernel : kernels)
    if (const auto* chunks = std::get_if<ChunkProducts>(&kernel)) out.push_back(*chunks);
  return out;
}

double sum_of(const std::vector<ChunkProducts>& products) {
  double all = 0;
  for (const ChunkProducts& each : products) all += each.flops.value;
  return all;
}

TEST_F(DeltaRules, OwnWhatGatedDeltaNetsOwn) {
  const double convolution = (kKeys + kInner) * 4, of_heads = 2 * kHeads, norms = kHidden + kValue;
  EXPECT_EQ(parameters(layer()), kHidden * kIn + convolution + of_heads + norms + kInner * kHidden);
}

// With states: three products forward, eight backward, of which two make the states again.
TEST_F(DeltaRules, MultiplyByWhatTheirChunksAreMadeOf) {
  constexpr double kChunk = 64, kSeen = (kChunk + 16) / 2;
  const double tokens = kTokens * kHeads, with_state = 2 * tokens * kKey * kValue,
               again = 2 * tokens * kChunk * (kKey + kValue) + 2 * with_state;
  const double forward = 2 * tokens * kKey * kSeen + again + with_state + 2 * tokens * kSeen * (kKey + kValue);
  EXPECT_DOUBLE_EQ(sum_of(products_of(layer().forward)), forward);
  const double backward = again + 2 * tokens * kSeen * (kKey + kValue) + 3 * with_state + 3 * with_state +
                          2 * tokens * kSeen * (kValue + 2 * kKey) + 2 * tokens * kChunk * (2 * (kKey + kValue) + kKey);
  EXPECT_DOUBLE_EQ(sum_of(products_of(layer().backward)), backward);
}

TEST_F(DeltaRules, PassStatesFromChunkToChunk) {
  const auto steps = [](const Kernels& kernels) {
    std::int64_t all = 0;
    for (const ChunkProducts& each : products_of(kernels))
      if (each.steps > 1) all += each.steps;
    return all;
  };
  EXPECT_EQ(steps(layer().forward), kTokens / 64);
  EXPECT_EQ(steps(layer().backward), 2 * kTokens / 64);
}

TEST_F(DeltaRules, CountTwiceAsMuchBackwardAndNothingTwice) {
  const auto asked = [](const Kernels& kernels) {
    double all = 0;
    for (const Kernel& kernel : kernels)
      if (std::holds_alternative<ChunkProducts>(kernel)) all += model_flops(kernel);
    return all;
  };
  EXPECT_DOUBLE_EQ(asked(layer().backward), 2 * asked(layer().forward));
}

TEST_F(DeltaRules, AreSharedByTensorRanks) {
  const OperatorList whole = layer();
  s.parallelism.tensor = 4;
  EXPECT_EQ(sum_of(products_of(layer().forward)), sum_of(products_of(whole.forward)) / 4);
  EXPECT_EQ(sum_of(products_of(layer().backward)), sum_of(products_of(whole.backward)) / 4);
}

}  // namespace
}  // namespace stepcast::schedules
