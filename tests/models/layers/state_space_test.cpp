#include "models/layers/state_space.h"

#include <gtest/gtest.h>

#include "models/layers/model_blocks.h"
#include "models/layers/transformer_layer.h"
#include "schedules/checks/check.h"
#include "tests/models/models.h"
#include "tests/schedules/scenarios.h"

namespace stepcast::schedules {
namespace {

struct StateSpaces : testing::Test {
  static constexpr double kHidden = 1024, kTokens = 2 * 1024, kHeads = 32, kHead = 64, kState = 128, kGroups = 8,
                          kChunk = 128;
  static constexpr double kInner = kHeads * kHead, kShared = 2 * kGroups * kState, kIn = 2 * kInner + kShared + kHeads;

  Scenario s = [] {
    Scenario one = round_numbers(1);
    one.model.family = Family::llama;
    one.model.hidden = 1024;
    one.model.variations.pattern = *layer_pattern("M");
    one.model.mamba = {.heads = 32, .head = 64, .state = 128, .groups = 8, .chunk = 128};
    one.training.micro_batch = 2;
    one.training.global_batch = 2;
    return one;
  }();
  OperatorList layer(LayerHalves halves = {Mixer::mamba, FeedForward::none}) const {
    return layer_operators(s, stack_sizes(s, s.training.sequence, true), halves);
  }
};

double scanned(const Kernels& kernels) {
  double all = 0;
  for (const Kernel& kernel : kernels)
    if (const auto* chunks = std::get_if<ChunkProducts>(&kernel)) all += chunks->flops.value;
  return all;
}

double exchanged(const Kernels& kernels, Among among) {
  double all = 0;
  for (const Kernel& kernel : kernels)
    if (const auto* traffic = std::get_if<TensorCollective>(&kernel); traffic != nullptr && traffic->among == among)
      all += static_cast<double>(traffic->bytes.value);
  return all;
}

TEST_F(StateSpaces, OwnWhatMambaTwoOwns) {
  ASSERT_EQ(s.model.hidden, kHidden);
  const double convolution = (kInner + kShared) * (4 + 1), of_heads = 3 * kHeads, norms = kHidden + kInner;
  EXPECT_EQ(parameters(layer()), kHidden * kIn + convolution + of_heads + norms + kInner * kHidden);
}

TEST_F(StateSpaces, ScanByTheProductsOfTheirChunks) {
  const double causal = (kChunk + 64) / 2, of_state = 2 * kTokens * kInner * kState,
               of_pairs = 2 * kTokens * kInner * causal, of_groups = 2 * kTokens * kGroups * kChunk * kState;
  EXPECT_EQ(scanned(layer().forward), 2 * of_state + of_pairs + of_groups);
  EXPECT_EQ(scanned(layer().backward), 5 * of_state + 3 * of_pairs + 3 * of_groups);
}

// What enters the first multiply and the layer, its result, the scan's, what enters the norm and what the last
// multiply.
TEST_F(StateSpaces, KeepNoStates) { EXPECT_EQ(saved_bytes(layer()), 2 * kTokens * (2 * kHidden + kIn + 3 * kInner)); }

TEST_F(StateSpaces, CountTwiceAsMuchBackwardAndNothingTwice) {
  const auto asked = [](const Kernels& kernels) {
    double all = 0;
    for (const Kernel& kernel : kernels)
      if (std::holds_alternative<ChunkProducts>(kernel)) all += model_flops(kernel);
    return all;
  };
  EXPECT_DOUBLE_EQ(asked(layer().backward), 2 * asked(layer().forward));
}

TEST_F(StateSpaces, AreSharedByTensorRanks) {
  const OperatorList whole = layer();
  s.parallelism.tensor = 4;
  const OperatorList part = layer();
  EXPECT_EQ(scanned(part.forward), scanned(whole.forward) / 4);
  EXPECT_EQ(scanned(part.backward), scanned(whole.backward) / 4);
  EXPECT_EQ(exchanged(part.forward, Among::tensor), 2 * kTokens * kHidden);
}

TEST_F(StateSpaces, AreExchangedForHeadsByContextRanks) {
  const OperatorList whole = layer();
  s.parallelism.context = 4;
  const OperatorList part = layer();
  EXPECT_EQ(scanned(part.forward), scanned(whole.forward) / 4);
  EXPECT_EQ(exchanged(part.forward, Among::context), 2 * kTokens / 4 * (kIn + kInner));
  EXPECT_EQ(exchanged(part.backward, Among::context), exchanged(part.forward, Among::context));
  s.model.mamba.groups = 2;  // each of two ranks needs a copy
  const double in = kIn - kShared + 2 * 4 * kState;
  EXPECT_EQ(exchanged(layer().forward, Among::context), 2 * kTokens / 4 * (in + kInner));
}

TEST_F(StateSpaces, ShortSamplesAreOneChunk) {
  s.training.sequence = 64;
  s.training.micro_batch = s.training.global_batch = 32;
  const double of_state = 2 * kTokens * kInner * kState, of_pairs = 2 * kTokens * kInner * 64,
               of_groups = 2 * kTokens * kGroups * 64 * kState;
  EXPECT_EQ(scanned(layer().forward), 2 * of_state + of_pairs + of_groups);
}

TEST_F(StateSpaces, HeadsAndGroupsThatRanksDoNotShareAreRefused) {
  s.cluster.gpus = s.parallelism.tensor = 16;
  const std::vector<Problem> problems = check(s);
  EXPECT_TRUE(std::ranges::any_of(problems, [](const Problem& p) { return p.key == "model.mamba.groups"; }));
  s.model.mamba.groups = 16;
  s.model.mamba.heads = 40;
  const std::vector<Problem> others = check(s);
  EXPECT_TRUE(std::ranges::any_of(others, [](const Problem& p) { return p.key == "model.mamba.heads"; }));
}

TEST(LayerPattern, IsWhatItSays) {
  const auto pattern = layer_pattern("M(*E)-G");
  ASSERT_TRUE(pattern.has_value());
  const std::vector<LayerHalves> expected{{Mixer::mamba, FeedForward::none},
                                          {Mixer::attention, FeedForward::experts},
                                          {Mixer::none, FeedForward::dense},
                                          {Mixer::delta_net, FeedForward::none}};
  EXPECT_EQ(*pattern, expected);
  EXPECT_EQ(text_of_pattern(*pattern), "M(*E)-G");
  for (const char* const wrong : {"", "X", "(M", "(EM)", "(M)", "()", "M)", "(M-E)", " M"})
    EXPECT_FALSE(layer_pattern(wrong).has_value()) << wrong;
}

TEST(LayerPattern, BeginsAnewUntilAllLayersHaveTheirs) {
  Model model;
  model.layers = 6;
  model.variations.pattern = *layer_pattern("M*-");
  EXPECT_EQ(halves(model, 4), (LayerHalves{Mixer::attention, FeedForward::none}));
  EXPECT_EQ(layers_with(model, Mixer::mamba), 2);
  EXPECT_EQ(layers_with(model, Mixer::none), 2);
  EXPECT_EQ(layers_with(model, FeedForward::none), 4);
  EXPECT_EQ(layers_with(model, FeedForward::experts), 0);
}

// Attention and what follows it as two layers take what they take as one.
TEST(LayerPattern, OfWholeLayersIsTheFamilysOwn) {
  Scenario s = round_numbers(1);
  s.model.family = Family::llama;
  const Blocks own = blocks(s);
  s.model.variations.pattern = *layer_pattern("(*-)");
  const Blocks whole = blocks(s);
  EXPECT_EQ(own.order, whole.order);
  EXPECT_EQ(parameters(own, cut(own, 1)), parameters(whole, cut(whole, 1)));
  EXPECT_EQ(model_flops(own).value, model_flops(whole).value);
  s.model.variations.pattern = *layer_pattern("*-");
  s.model.layers *= 2;
  const Blocks halved = blocks(s);
  EXPECT_EQ(parameters(halved, cut(halved, 1)), parameters(own, cut(own, 1)));
  EXPECT_EQ(model_flops(halved).value, model_flops(own).value);
}

}  // namespace
}  // namespace stepcast::schedules
