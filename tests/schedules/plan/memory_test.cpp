#include "schedules/plan/memory.h"

#include <gtest/gtest.h>

#include "models/layers/model_blocks.h"
#include "models/layers/stack_sizes.h"
#include "schedules/forecast.h"
#include "schedules/plan/out_of_memory.h"
#include "tests/schedules/saved.h"
#include "tests/schedules/scenarios.h"

namespace stepcast::schedules {
namespace {

double saved(const Scenario& s, Recompute recompute) {
  return saved_activation_bytes(s, stack_sizes(s, s.training.sequence, true), recompute);
}

/// Korthikanti et al. 2022, equations 1, 2, 4 and table 2, with the sizes of their 22B model.
struct Formula {
  double s = 2048, b = 4, h = 6144, a = 64, t = 8;
  double sbh() const { return s * b * h; }
};

Scenario korthikanti_22b(std::uint32_t tensor, bool sequence) {
  Scenario q = round_numbers(tensor);
  q.model = {"", Family::gpt, 48, 6144, 64, 64, 4 * 6144, 51200, ""};
  q.training.sequence = 2048;
  q.training.micro_batch = 4;
  q.parallelism.tensor = tensor;
  q.parallelism.sequence = sequence;
  return q;
}

TEST(SavedActivations, ArePublishedFormulas) {
  const Formula f;
  EXPECT_DOUBLE_EQ(saved(korthikanti_22b(1, false), Recompute::none), f.sbh() * (34 + 5 * f.a * f.s / f.h));
  EXPECT_DOUBLE_EQ(saved(korthikanti_22b(8, false), Recompute::none),
                   f.sbh() * (10 + 24 / f.t + 5 * f.a * f.s / (f.h * f.t)));
  EXPECT_DOUBLE_EQ(saved(korthikanti_22b(8, true), Recompute::none), f.sbh() / f.t * (34 + 5 * f.a * f.s / f.h));
  EXPECT_DOUBLE_EQ(saved(korthikanti_22b(8, false), Recompute::selective), f.sbh() * (10 + 24 / f.t));
  EXPECT_DOUBLE_EQ(saved(korthikanti_22b(8, true), Recompute::selective), f.sbh() * 34 / f.t);
  EXPECT_DOUBLE_EQ(saved(korthikanti_22b(8, false), Recompute::full), 2 * f.sbh());
}

TEST(SavedActivations, FlashAttentionKeepsNoScores) {
  Scenario q = korthikanti_22b(1, false);
  q.training.attention = Attention::flash;
  const Formula f;
  EXPECT_EQ(saved(q, Recompute::none), f.sbh() * 34 + f.s * f.b * f.a * 4);
}

TEST(SavedActivations, RepeatedFlashAttentionKeepsAllButTheStatistics) {
  Scenario q = korthikanti_22b(8, false);
  q.training.attention = Attention::flash;
  const Formula f;
  const double statistics = f.s * f.b * f.a / f.t * 4;
  const auto of_bf16 = [&] { return saved(q, Recompute::none) - saved(q, Recompute::selective); };
  EXPECT_EQ(of_bf16(), 0);  // a stack that leaves the fused core alone
  q.software.recompute_fused_attention = true;
  EXPECT_EQ(of_bf16(), statistics);
  // In 8 bits the projection keeps its own form of the output, so the core's goes too.
  q.training.precision = Precision::fp8;
  EXPECT_EQ(of_bf16(), statistics + 2 * f.sbh() / f.t);
}

TEST(StageMemory, ModelStateOfAdamInMixedPrecisionIs18BytesAParameterAndZeroSharesIt) {
  Scenario q = round_numbers(8);
  q.parallelism.data = 8;
  q.training.global_batch = 8;
  const Blocks model = blocks(q);
  const std::vector<BlockRange> whole = cut(model, 1);
  const StageOrder order = {{PassKind::forward, {}, 0}, {PassKind::backward, {}, 0}};
  const double n = parameters(model, whole);
  const MemoryUse plain = stage_memory(q, model, whole, {}, order);
  EXPECT_EQ(static_cast<double>((plain.parameters + plain.gradients + plain.optimizer).value), 18 * n);
  // ZeRO (arXiv 1910.02054), fig. 1, with fp32 main gradients: 2 + 4 + 12/N, 2 + (4 + 12)/N, (2 + 4 + 12)/N.
  const double share[] = {18, 6 + 12.0 / 8, 2 + 16.0 / 8, 18.0 / 8};
  for (int zero = 0; zero <= 3; ++zero) {
    q.data_parallel.zero = zero;
    const MemoryUse use = stage_memory(q, model, whole, {}, order);
    EXPECT_NEAR(static_cast<double>((use.parameters + use.gradients + use.optimizer).value) / (share[zero] * n), 1,
                1e-7);
  }
}

TEST(StageMemory, KeepsMomentsInTheirOwnPrecision) {
  Scenario q = round_numbers(1);
  EXPECT_EQ(optimizer_bytes(q), 4 + 2 * 4);
  q.software.moment_precision = Precision::bf16;
  EXPECT_EQ(optimizer_bytes(q), 4 + 2 * 2);
  q.training.optimizer = Optimizer::momentum;
  EXPECT_EQ(optimizer_bytes(q), 4 + 2);
}

TEST(StageParameters, OfAllTensorRanksAndStagesAreTheModelsAndWhatIsKeptTwice) {
  Scenario q = round_numbers(8);
  q.parallelism.tensor = 2;
  q.parallelism.pipeline = 4;
  double held = 0;
  const Blocks half = blocks(q);
  for (const BlockRange& stage : cut(half, 4)) held += 2 * parameters(half, std::span(&stage, 1));
  const double h = 2048;
  const double norms_and_biases = 16 * 6 * h, positions = 1024 * h, last_norm = 2 * h, second_matrix = 51200 * h;
  q.parallelism.tensor = 1;
  const Blocks all = blocks(q);
  EXPECT_EQ(held, parameters(all, cut(all, 1)) + norms_and_biases + positions + last_norm + second_matrix);
}

// Two virtual stages of one chunk each: what is kept is counted chunk by chunk, the largest moment wins.
TEST(StageMemory, CountsWhatEachVirtualStageKeeps) {
  Scenario q = round_numbers(8);
  q.parallelism.pipeline = 1;
  Blocks model;
  model.kinds = {{.name = "small", .layer = true, .saved = 100}, {.name = "large", .layer = true, .saved = 1000}};
  model.order = {0, 1};
  const std::vector<BlockRange> chunks = cut(model, 2);
  const auto pass = [](PassKind kind, std::uint32_t m, std::uint32_t v) { return Pass{kind, MicroBatchId{m}, v}; };
  const StageOrder order = {pass(PassKind::forward, 0, 0),  pass(PassKind::forward, 1, 0),
                            pass(PassKind::forward, 0, 1),  pass(PassKind::backward, 0, 1),
                            pass(PassKind::backward, 0, 0), pass(PassKind::forward, 1, 1),
                            pass(PassKind::backward, 1, 1), pass(PassKind::backward, 1, 0)};
  EXPECT_EQ(stage_memory(q, model, chunks, {.virtual_stages = 2}, order).activations, Bytes{1200});
}

TEST(StageMemory, CountsOneEmptyGradientForEachShapeOfWeight) {
  Scenario s = round_numbers(1);
  const auto buffers = [&] { return forecast(s).stages.front().memory.buffers.value; };
  const std::int64_t without = buffers();
  s.software.dummy_weight_gradients = true;
  const std::int64_t h = s.model.hidden, f = s.model.ffn, v = s.model.vocab;
  EXPECT_EQ(buffers() - without, 2 * (3 * h * h + h * h + f * h + h * f + v * h));
  s.model.layers *= 2;  // the same shapes again
  EXPECT_EQ(buffers() - without, 2 * (3 * h * h + h * h + f * h + h * f + v * h));
  EXPECT_EQ(forecast(s).stages.front().memory.peak() - forecast(s).stages.front().memory.allocated(),
            s.software.memory_reserve);
}

TEST(OutOfMemory, SaysHowMuchAndWhatIsLargest) {
  Scenario q = round_numbers(8);
  q.cluster.gpu.memory = {80LL << 30};
  MemoryUse use;
  use.activations = {90LL << 30};
  use.parameters = {3LL << 30};
  const auto over = out_of_memory(q, 2, use);
  ASSERT_TRUE(over);
  EXPECT_EQ(over->stage, 2u);
  EXPECT_EQ(over->needed, Bytes{93LL << 30});
  EXPECT_EQ(largest_in_words(*over), "activations 90.0 GiB");
  use.activations = {70LL << 30};
  EXPECT_FALSE(out_of_memory(q, 2, use));
}

}  // namespace
}  // namespace stepcast::schedules
