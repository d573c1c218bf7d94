#include "schedules/plan/memory.h"

#include <gtest/gtest.h>

#include "models/layers/model_blocks.h"
#include "models/layers/stack_sizes.h"
#include "schedules/forecast.h"
#include "schedules/pipeline/pipelines.h"
#include "schedules/pipeline/shape.h"
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
  q.software.moment_precision = MomentPrecision::bf16;
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

/// Activations of one stage of a layer and a head, whose sizes are told apart by their digits, in this order of passes.
Bytes with_head(const Shape& shape, const StageOrder& order) {
  Blocks model;
  model.kinds = {{.name = "layer", .layer = true, .saved = 1000, .for_weights = 5000, .working = 10},
                 {.name = "head", .saved_by_loss = 200, .for_weights = 100}};
  model.order = {0, 1};
  return stage_memory(round_numbers(8), model, cut(model, 1), shape, order).activations;
}

Pass pass(PassKind kind, std::uint32_t micro_batch) { return {kind, MicroBatchId{micro_batch}, 0}; }

// Every micro-batch that has gone forward and not yet backward keeps what the head and the loss keep of it.
TEST(StageMemory, KeepsLogitsOfAllThatIsInFlight) {
  using enum PassKind;
  const StageOrder in_turn = {pass(forward, 0), pass(backward, 0), pass(forward, 1), pass(backward, 1)};
  EXPECT_EQ(with_head({}, in_turn), Bytes{1200});  // the layer works where the head's are gone
  const StageOrder all_forward = {pass(forward, 0), pass(forward, 1), pass(backward, 1), pass(backward, 0)};
  EXPECT_EQ(with_head({}, all_forward), Bytes{2400});
}

// What gradients of weights are made of stays until they are, though forward kept less of it to make it again.
// A forward's layers come as those of the backward beside it go.
TEST(StageMemory, OfPairsThatGoLayerByLayerIsOneMicroBatchAndALayer) {
  Scenario s = round_numbers(1);
  s.training.global_batch = 8;
  s.training.micro_batch = 1;
  const Blocks all = blocks(s);
  const std::vector<BlockRange> whole = cut(all, 1);
  const auto activations = [&](const char* schedule) {
    const PipelineSchedule& by = *find_pipeline(schedule);
    const Shape shape{1, 8, 1};
    return static_cast<double>(stage_memory(s, all, whole, shape, orders(by, shape)[0]).activations.value);
  };
  EXPECT_EQ(activations("combined-1f1b") - activations("1f1b"), all.kinds[1].saved);
}

TEST(StageMemory, KeepsWhatWeightsWaitFor) {
  using enum PassKind;
  const StageOrder at_once = {pass(forward, 0), pass(backward, 0), pass(weight, 0),
                              pass(forward, 1), pass(backward, 1), pass(weight, 1)};
  EXPECT_EQ(with_head({.splits_backward = true}, at_once), Bytes{5100});
  const StageOrder late = {pass(forward, 0),  pass(backward, 0), pass(forward, 1),
                           pass(backward, 1), pass(weight, 0),   pass(weight, 1)};
  EXPECT_EQ(with_head({.splits_backward = true}, late), Bytes{2 * 5100});
  const StageOrder whole = {pass(forward, 0), pass(whole_backward, 0), pass(forward, 1), pass(whole_backward, 1)};
  EXPECT_EQ(with_head({.splits_backward = true}, whole), Bytes{1200});
}

// Layers behind have gone backward, and keep nothing, when a layer is made again.
TEST(StageMemory, HoldsNothingOfLayersThatHaveGoneBackward) {
  Blocks model;
  model.kinds = {{.name = "repeated", .layer = true, .saved = 1, .working = 500},
                 {.name = "kept", .layer = true, .saved = 400, .working = 20}};
  model.order = {0, 1};
  using enum PassKind;
  const StageOrder order = {pass(forward, 0), pass(backward, 0)};
  EXPECT_EQ(stage_memory(round_numbers(8), model, cut(model, 1), {}, order).activations, Bytes{1 + 500});
}

Scenario four_stages(std::string_view schedule) {
  Scenario q = round_numbers(4);
  q.training.global_batch = 8;
  q.training.attention = Attention::flash;
  q.software.fused_cross_entropy = FusedLoss::yes;
  q.parallelism.pipeline = 4;
  q.pipeline.schedule = schedule;
  return q;
}

double last_activations(const Scenario& q) {
  return static_cast<double>(forecast(q).stages.back().memory.activations.value);
}

// GPipe's last stage keeps 34 sbh and the softmax's statistics of each of its four layers, 4 sbh and the logits in 16
// bits of the head (Korthikanti et al. 2022, sec. 4.3 and eq. 5), of all eight micro-batches.
TEST(StageMemory, OfGPipesLastStageHasTheLogitsOfAllMicroBatches) {
  const double sb = 1024, h = 2048, a = 16, vocab = 51200;
  const double layers = 4 * (34 * sb * h + 4 * sb * a), head = 4 * sb * h + 2 * sb * vocab;
  EXPECT_DOUBLE_EQ(last_activations(four_stages("gpipe")), 8 * (layers + head));
}

// Qi et al. (arXiv 2401.10241, sec. 2.3): until its weights' gradients are made, a layer keeps 32 sbh, repeated or not.
TEST(StageMemory, OfAZeroBubbleWithRecomputationHasWhatWeightsWaitFor) {
  Scenario q = four_stages("zb-h2");
  q.recompute = Recompute::full;
  const double sb = 1024, h = 2048, vocab = 51200, waiting = 6;
  const double least = waiting * (4 * 32 * sb * h + 2 * sb * h + 2 * sb * vocab);
  EXPECT_GT(last_activations(q), least);
  EXPECT_LT(last_activations(q), 1.35 * least);
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

TEST(StageMemory, HasTheBucketsThatTheSoftwareCopiesGradientsTo) {
  Scenario s = round_numbers(8);
  s.parallelism.data = 8;
  s.training.global_batch = 8 * s.training.micro_batch;
  const auto buffers = [&] { return forecast(s).stages.front().memory.buffers.value; };
  const double parameters = forecast(s).parameters;
  const std::int64_t of_views = buffers();
  s.software.gradient_as_bucket_view = false;  // PyTorch's DDP: the buckets are a second copy
  EXPECT_EQ(buffers() - of_views,
            element_bytes(s.software.main_gradient_precision) * static_cast<std::int64_t>(parameters));
  s.data_parallel.zero = 1;
  s.data_parallel.bucket = Bytes{1'000'000};
  const std::int64_t in_place = buffers();
  s.software.bucket_copies = 3;
  EXPECT_EQ(buffers() - in_place, 3'000'000);
}

// PyTorch's FSDP2: a layer's gradients are whole in the training precision, then in that of the sum until the next
// layer's are; those of embedding and head wait for all others.
TEST(StageMemory, HoldsTheGradientsOfTheLayerAtWork) {
  Scenario s = round_numbers(8);
  s.parallelism.data = 8;
  s.data_parallel.zero = 3;
  s.software.gradient_precision = Precision::fp32;
  Blocks model;
  model.kinds = {{.name = "layer", .layer = true, .parameters = 1000, .saved = 100, .working = 5000},
                 {.name = "head", .parameters = 40, .saved = 7, .working = 9}};
  model.order = {0, 0, 1};
  const StageOrder order = {pass(PassKind::forward, 0), pass(PassKind::backward, 0)};
  const auto activations = [&] { return stage_memory(s, model, cut(model, 1), {}, order).activations.value; };
  const std::int64_t saved = 100 + 100 + 7, e = element_bytes(s.training.precision);
  EXPECT_EQ(activations(), saved - 7 + 5000);
  s.software.block_gradients = true;
  // The last layer: 2 and 4 bytes a parameter as it hands them over, and the head's. The first has 4 of the last one's
  // beside what it works with.
  EXPECT_EQ(activations(), saved - 7 - 100 + 40 * e + 5000 + 4 * 1000);
  s.data_parallel.zero = 1;
  EXPECT_EQ(activations(), saved - 7 + 5000);
}

// Two layers of 5000 parameters whose largest multiply has 40 x 100.
TEST(StageMemory, GathersNoMoreThanLiveParametersBesideTheWeightAtWork) {
  Scenario s = round_numbers(8);
  s.parallelism.data = 8;
  s.data_parallel.zero = 3;
  Blocks model;
  model.kinds = {{.name = "layer",
                  .layer = true,
                  .forward = {Gemm{.shape = {.m = 7, .n = 100, .k = 40}, .linear = true}},
                  .parameters = 5000}};
  model.order = {0, 0};
  const StageOrder order = {pass(PassKind::forward, 0), pass(PassKind::backward, 0)};
  const auto buffers = [&] { return stage_memory(s, model, cut(model, 1), {}, order).buffers.value; };
  const std::int64_t e = element_bytes(s.training.precision);
  EXPECT_EQ(buffers(), 2 * 5000 * e);
  s.software.live_parameters = 1000;
  EXPECT_EQ(buffers(), (1000 + 40 * 100) * e);
  s.software.live_parameters = 1e9;
  EXPECT_EQ(buffers(), 2 * 5000 * e);
}

TEST(StageMemory, HasNoCopyOfTheParametersInFp32WhereThereIsNone) {
  Scenario s = round_numbers(1);
  EXPECT_EQ(optimizer_bytes(s), 4 + 2 * 4);
  s.software.master_weights = false;
  EXPECT_EQ(optimizer_bytes(s), 2 * 4);
  s.training.precision = Precision::fp32;
  EXPECT_EQ(optimizer_bytes(s), 2 * 4);
}

/// Two layers and a head on one GPU, one micro-batch.
struct SmallStage {
  SmallStage() {
    s.training.global_batch = s.training.micro_batch = 1;
    s.software.main_gradient_precision = Precision::fp16;
    model.kinds = {{.name = "layer", .layer = true, .parameters = 1000, .saved = 900, .working = 300},
                   {.name = "head", .parameters = 40, .saved = 70, .working = 20}};
    model.order = {0, 0, 1};
  }
  MemoryUse use() const {
    return stage_memory(s, model, cut(model, 1), {}, {pass(PassKind::forward, 0), pass(PassKind::backward, 0)});
  }
  Scenario s = round_numbers(1);
  Blocks model;
};

// What was saved is 1870 bytes. The last layer begins backward with 1800 of it, works with 300 and finds the head's 80
// of gradients; the first has 900, 300 and 2080; behind it are 4080 of gradients, which is most.
TEST(StageMemory, HasNoGradientsBeforeBackwardWhereTheyDoNotPersist) {
  SmallStage stage;
  constexpr std::int64_t all = 4080;  // two bytes of each parameter
  EXPECT_EQ(stage.use().gradients.value, all);
  EXPECT_EQ(stage.use().activations.value, 900 + 900 + 300);
  stage.s.software.gradients_persist = false;
  EXPECT_EQ((stage.use().gradients + stage.use().activations).value, all);
  EXPECT_EQ(stage.use().buffers, Bytes{});  // the update has no more
  for (Block& kind : stage.model.kinds) kind.saved *= 4;
  // Now the last layer's is the peak: 7200 and 300, and the head's 80.
  EXPECT_EQ(stage.use().activations.value, 4 * (900 + 900) + 300);
  EXPECT_EQ(stage.use().gradients.value, 2 * 40);
  stage.s.training.global_batch = 2;  // the second micro-batch finds what the first has left
  EXPECT_EQ(stage.use().gradients.value, all);
}

// Of embedding, two layers and head the layers have 1000 parameters each, whose largest weight is not told, so all.
TEST(StageMemory, HasOneGradientWhereWeightsAreUpdatedInBackward) {
  SmallStage stage;
  stage.s.training.update_in_backward = true;
  EXPECT_EQ(stage.use().gradients.value, 2 * 1000);
  EXPECT_EQ(stage.use().activations.value, 900 + 900 + 300);
  stage.s.software.optimizer_temporaries = 4;
  EXPECT_EQ(stage.use().buffers.value, 2000 + 4 * 1000 - 2000 - 2100);
  stage.s.software.gradients_persist = false;  // of which no more come beside what was saved than above
  EXPECT_EQ(stage.use().gradients.value, 4080 - 2100);
}

TEST(StageMemory, HasWhatTheUpdateTakesMoreThanThePasses) {
  SmallStage stage;
  stage.s.software.optimizer_temporaries = 1;
  EXPECT_EQ(stage.use().buffers, Bytes{});  // 2040, and activations have been 2100
  stage.s.software.optimizer_temporaries = 4;
  EXPECT_EQ(stage.use().buffers.value, 4 * 2040 - 2100);
  stage.s.training.optimizer = Optimizer::none;
  EXPECT_EQ(stage.use().buffers, Bytes{});
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
