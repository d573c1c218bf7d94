#include "models/layers/recompute_groups.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <variant>
#include <vector>

#include "models/layers/model_blocks.h"
#include "models/layers/stack_sizes.h"
#include "schedules/forecast.h"
#include "schedules/plan/memory.h"
#include "tests/schedules/saved.h"
#include "tests/schedules/scenarios.h"

namespace stepcast::schedules {
namespace {

double saved(const Scenario& s, Recompute recompute) {
  return saved_activation_bytes(s, stack_sizes(s, s.training.sequence, true), recompute);
}

Scenario one_gpu(std::int64_t layers) {
  Scenario s = round_numbers(1);
  s.model.layers = layers;
  s.training.global_batch = 4;
  return s;
}

/// Gradients that a layer's backward pass works on, beside what was saved: those of its output, of the feed-forward
/// block's inside before and after the activation.
double gradients_in_work(const Scenario& s) {
  const double tokens = static_cast<double>(s.training.micro_batch * s.training.sequence);
  const double width = static_cast<double>(s.model.hidden), inner = static_cast<double>(s.model.ffn);
  return tokens * (width + 2 * inner) * static_cast<double>(element_bytes(s.training.precision));
}

/// Bytes that are saved by a GPU with one micro-batch in flight, and repeated, without those of embedding and head.
double layers_activations(const Scenario& s) {
  const std::vector<BlockRange> ranges = cut(blocks(s), 1);
  const Blocks model = with_recomputation(s, ranges);
  double saved = 0, working = 0;
  for (std::uint32_t place = 0; place < model.order.size(); ++place) {
    if (!model.at(place).layer) continue;
    saved += model.at(place).saved;
    working = std::max(working, model.at(place).working);
  }
  return saved + working - gradients_in_work(s);
}

TEST(RecomputeEvery, KeepsOneInputPerGroupAndAGroupsActivationsWhileItGoesBackward) {
  for (const std::int64_t layers : {1, 5, 12, 16})
    for (const std::uint32_t every : {1u, 2u, 3u, 4u, 16u}) {
      Scenario s = one_gpu(layers);
      s.recompute = Recompute::full;
      s.recompute_group = every;
      const double all = saved(s, Recompute::none), input = saved(s, Recompute::full);
      const double groups = static_cast<double>((layers + every - 1) / every);
      const double largest = static_cast<double>(std::min<std::int64_t>(every, layers));
      // Chen et al. 2016 (arXiv 1604.06174), sec. 4: inputs of all groups, and one group in full; the input that both
      // have stands once.
      EXPECT_DOUBLE_EQ(layers_activations(s), groups * input + largest * all - input) << layers << " by " << every;
    }
}

TEST(RecomputeSelective, RepeatsFusedAttentionWhereTheStackDoes) {
  Scenario s = one_gpu(4);
  s.training.attention = Attention::flash;
  s.recompute = Recompute::none;
  const Time none = forecast(s).step;
  s.recompute = Recompute::selective;
  EXPECT_TRUE(blocks(s).kinds[1].recompute.empty());
  EXPECT_EQ(forecast(s).step, none);
  s.software.recompute_fused_attention = true;
  const Kernels again = blocks(s).kinds[1].recompute;
  ASSERT_EQ(again.size(), 1u);  // and no multiply
  EXPECT_TRUE(std::holds_alternative<FusedAttention>(again.front()));
  EXPECT_FALSE(std::get<FusedAttention>(again.front()).backward);
  EXPECT_GT(forecast(s).step, none);
}

// torch.utils.checkpoint, set_checkpoint_early_stop: the last multiply's output is nobody's input.
TEST(RecomputeFull, StopsEarlyBeforeTheLastMultiply) {
  Scenario s = one_gpu(4);
  s.recompute = Recompute::full;
  s.software.dropout = s.software.biases = false;
  const auto repeated = [&] { return blocks(s).kinds[1].recompute; };
  EXPECT_EQ(repeated().size(), blocks(s).kinds[1].forward.size());
  s.software.recompute_stops_early = true;
  const Kernels forward = blocks(s).kinds[1].forward, early = repeated();
  ASSERT_LT(early.size(), forward.size());
  EXPECT_EQ(kind(forward[early.size()]), OperatorKind::feed_forward_out);
  for (std::size_t i = early.size() + 1; i < forward.size(); ++i)
    EXPECT_FALSE(std::holds_alternative<Gemm>(forward[i]));
  s.software.dropout = true;  // its mask is needed
  EXPECT_EQ(repeated().size(), blocks(s).kinds[1].forward.size());
}

// Megatron-LM, --distribute-saved-activations: gather_split_1d_tensor() before a checkpoint's forward runs again.
TEST(RecomputeFull, TensorRanksKeepPartsOfInputsAndGatherThem) {
  Scenario s = round_numbers(8);
  s.parallelism.tensor = 8;
  s.recompute = Recompute::full;
  const Block whole = blocks(s).kinds[1];
  s.software.partition_activations = true;
  const Block parted = blocks(s).kinds[1];
  EXPECT_EQ(parted.saved, whole.saved / s.parallelism.tensor);
  EXPECT_EQ(parted.saved + parted.working, whole.saved + whole.working);  // whole while the layer is at work
  EXPECT_EQ(parted.forward.size(), whole.forward.size());
  ASSERT_EQ(parted.recompute.size(), whole.recompute.size() + 1);
  const auto& gather = std::get<TensorCollective>(parted.recompute.front());
  EXPECT_EQ(gather.operation, collectives::Operation::all_gather);
  EXPECT_EQ(gather.bytes, s.training.micro_batch * s.training.sequence * s.model.hidden * Bytes{2});

  s.recompute_group = 2;  // one input of two layers
  const Blocks of_groups = with_recomputation(s, cut(blocks(s), 1));
  std::size_t gathers = 0, layers = 0;
  for (const std::uint32_t kind_of : of_groups.order) {
    const Block& block = of_groups.kinds[kind_of];
    layers += block.layer;
    gathers += !block.recompute.empty() && kind(block.recompute.front()) == OperatorKind::checkpoint_gather;
  }
  EXPECT_EQ(2 * gathers, layers);

  s.recompute_group = 1;
  for (const auto& change : std::vector<std::function<void(Scenario&)>>{
           [](Scenario& t) { t.parallelism.sequence = true; }, [](Scenario& t) { t.recompute = Recompute::none; },
           [](Scenario& t) { t.recompute = Recompute::selective; }}) {
    Scenario same = s;
    change(same);
    const double with = blocks(same).kinds[1].saved;
    same.software.partition_activations = false;
    EXPECT_EQ(with, blocks(same).kinds[1].saved);
  }
}

TEST(RecomputeEvery, TakesTheTimeOfFullRecomputationWhateverTheGroup) {
  Scenario s = one_gpu(16);
  s.recompute = Recompute::full;
  const Time each = forecast(s).step;
  s.recompute_group = 4;
  EXPECT_EQ(forecast(s).step, each);
}

TEST(RecomputeEvery, StopsEarlyInTheLastLayerOfEachGroupAlone) {
  Scenario s = one_gpu(8);
  s.recompute = Recompute::full;
  s.software.dropout = s.software.biases = false;
  const auto multiplies = [&] {
    const Blocks model = with_recomputation(s, cut(blocks(s), 1));
    std::ptrdiff_t all = 0;
    for (const std::uint32_t kind : model.order)
      all += std::ranges::count_if(model.kinds[kind].recompute,
                                   [](const Kernel& kernel) { return std::holds_alternative<Gemm>(kernel); });
    return all;
  };
  const std::ptrdiff_t none_stops = multiplies();
  s.software.recompute_stops_early = true;
  EXPECT_EQ(multiplies(), none_stops - 8);
  s.recompute_group = 4;
  EXPECT_EQ(multiplies(), none_stops - 2);
}

TEST(RecomputeFullLayers, RepeatsSoManyForwardPassesAndKeepsTheOthersWhole) {
  Scenario s = one_gpu(16);
  const Forecast none = forecast(s);
  s.recompute = Recompute::full;
  const double all = saved(s, Recompute::none), input = saved(s, Recompute::full);
  for (const std::uint32_t layers : {1u, 7u, 16u}) {
    s.recompute_layers = layers;
    EXPECT_DOUBLE_EQ(layers_activations(s), layers * input + (16 - layers) * all + all - input);
    EXPECT_EQ(forecast(s).step - none.step, *none.layer_forward * (4 * layers));
  }
  const Time of_all = forecast(s).step;
  s.recompute_layers.reset();
  EXPECT_EQ(forecast(s).step, of_all);
}

// A group whose input a frozen layer had would have none: what is frozen keeps nothing.
TEST(RecomputeEvery, BeginsItsGroupsWithTheFirstLayerThatIsTrained) {
  Scenario s = one_gpu(8);
  s.recompute = Recompute::full;
  s.recompute_group = 2;
  s.training.frozen_layers = 3;
  const Blocks model = with_recomputation(s, cut(blocks(s), 1));
  for (std::uint32_t layer = 3; layer < 8; ++layer)
    EXPECT_EQ(model.at(layer + 1).saved > 0, layer % 2 == 1) << layer;  // behind the embedding
}

TEST(RecomputeFullLayers, CountsInEveryModelChunk) {
  Scenario s = round_numbers(2);
  s.parallelism.pipeline = 2;
  s.recompute = Recompute::full;
  s.recompute_layers = 3;
  s.recompute_group = 2;
  const std::vector<BlockRange> ranges = cut(blocks(s), 2);
  const Blocks model = with_recomputation(s, ranges);
  for (const BlockRange& range : ranges) {
    int repeated = 0, inputs = 0;
    for (std::uint32_t place = range.first; place < range.first + range.count; ++place) {
      if (!model.at(place).layer || model.at(place).recompute.empty()) continue;
      ++repeated;
      inputs += model.at(place).saved > 0;
    }
    EXPECT_EQ(repeated, 3);
    EXPECT_EQ(inputs, 2);  // of layers 0 and 2
  }
}

}  // namespace
}  // namespace stepcast::schedules
