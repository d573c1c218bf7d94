#include "models/layers/adapters.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "models/layers/frozen.h"
#include "models/layers/model_blocks.h"
#include "schedules/checks/check.h"
#include "schedules/forecast.h"
#include "tests/schedules/scenarios.h"

namespace stepcast::schedules {
namespace {

constexpr LoraTargets kQueriesValues{.queries = true, .values = true};
constexpr LoraTargets kEveryMultiply{
    .query_key_value = true, .projection = true, .feed_forward_in = true, .feed_forward_out = true};

/// A decoder of Llama's kind with round numbers, which adapters train.
Scenario with_adapters(std::int64_t rank, LoraTargets targets = kEveryMultiply) {
  Scenario s = round_numbers(1);
  s.model.family = Family::llama;
  s.training.attention = Attention::flash;
  s.training.lora = {.rank = rank, .targets = targets};
  return s;
}

Blocks frozen_blocks(const Scenario& s) {
  Blocks model = blocks(s);
  freeze(model, s.training);
  return model;
}

double trained(const Scenario& s) {
  const Blocks model = frozen_blocks(s);
  return trained_parameters(model, cut(model, 1));
}

double to_d(std::int64_t n) { return static_cast<double>(n); }

TEST(Adapters, AloneAreTrained) {
  // A of rank x inputs and B of outputs x rank beside each multiply.
  const Scenario s = with_adapters(4);
  const Model& m = s.model;
  const double h = to_d(m.hidden), columns = h + 2 * to_d(kv_heads(m)) * to_d(head_width(m)), ffn = to_d(m.ffn);
  EXPECT_EQ(trained(s), to_d(m.layers) * 4 * ((h + columns) + (h + h) + (h + 2 * ffn) + (ffn + h)));
  // Each of q and v has an A of its own.
  const double values = to_d(kv_heads(m)) * to_d(head_width(m));
  EXPECT_EQ(trained(with_adapters(4, kQueriesValues)), to_d(m.layers) * 4 * ((h + h) + (h + values)));
}

TEST(Adapters, LeaveTheModelsOwnParametersAsManyAsTheyWere) {
  Scenario without = with_adapters(4);
  without.training.lora = {};
  const Forecast all = forecast(without), some = forecast(with_adapters(4));
  EXPECT_EQ(some.parameters, all.parameters + trained(with_adapters(4)));
  EXPECT_EQ(some.trained_parameters, trained(with_adapters(4)));
  EXPECT_EQ(all.trained_parameters, std::nullopt);
}

TEST(Adapters, NeedNoOptimizerStateAndNoGradientsOfWhatIsFrozen) {
  const Scenario s = with_adapters(4);
  const MemoryUse use = forecast(s).stages[0].memory;
  EXPECT_EQ(static_cast<double>(use.optimizer.value), trained(s) * 12);
  EXPECT_EQ(static_cast<double>(use.gradients.value),
            trained(s) * to_d(element_bytes(s.software.main_gradient_precision)));
}

/// Of a pass of a layer: multiplies' FLOPs but for those of adapters.
double flops_of_layer(const Kernels& pass) {
  double sum = 0;
  for (const Kernel& kernel : pass)
    if (const auto* gemm = std::get_if<Gemm>(&kernel); gemm != nullptr && gemm->kind != OperatorKind::adapter)
      sum += gemm->model_flops();
  return sum;
}

TEST(Adapters, HalveTheLayersBackwardPass) {
  const Blocks model = frozen_blocks(with_adapters(4));
  EXPECT_EQ(flops_of_layer(model.at(1).backward), flops_of_layer(model.at(1).forward));
  Scenario s = with_adapters(4);
  s.training.lora = {};
  const Blocks all = blocks(s);
  EXPECT_EQ(flops_of_layer(all.at(1).backward), 2 * flops_of_layer(all.at(1).forward));
}

TEST(Adapters, HaveTwoNarrowMultipliesForwardAndFourBackward) {
  for (const auto& [targets, adapters] : {std::pair{kQueriesValues, 2}, {kEveryMultiply, 4}}) {
    const Blocks model = frozen_blocks(with_adapters(4, targets));
    const auto narrow = [](const Kernels& pass) {
      return std::ranges::count_if(pass, [](const Kernel& kernel) {
        const auto* gemm = std::get_if<Gemm>(&kernel);
        return gemm != nullptr && gemm->kind == OperatorKind::adapter;
      });
    };
    EXPECT_EQ(narrow(model.at(1).forward), 2 * adapters);
    EXPECT_EQ(narrow(model.at(1).backward), 4 * adapters);
  }
}

TEST(Adapters, StandBehindAFrozenEmbedding) {
  const Blocks model = frozen_blocks(with_adapters(4));
  EXPECT_TRUE(model.at(0).frozen);
  EXPECT_TRUE(model.at(0).backward.empty());
  EXPECT_FALSE(model.at(1).frozen);
  const Block& head = model.at(static_cast<std::uint32_t>(model.order.size() - 1));
  EXPECT_FALSE(head.frozen);  // the gradient goes through it
  EXPECT_EQ(head.frozen_parameters, head.parameters);
}

TEST(Adapters, SumNoGradientsOfATiedEmbedding) {
  Scenario s = with_adapters(4);
  s.model.variations.tied_head = true;
  EXPECT_EQ(trained(s), trained(with_adapters(4)));
  s.cluster.gpus = 4;
  s.parallelism.pipeline = 4;
  EXPECT_EQ(tied_stage(frozen_blocks(s), std::vector<std::vector<BlockRange>>{{{0, 2}}, {{2, 20}}}), std::nullopt);
}

double saved_by_layer(const Scenario& s) { return frozen_blocks(s).at(1).saved; }

TEST(Adapters, KeepTheInputOfWhatTheyStandBeside) {
  const Scenario all = with_adapters(4), heads = with_adapters(4, kQueriesValues);
  const double tokens = to_d(all.training.micro_batch * all.training.sequence), h = to_d(all.model.hidden);
  // All keep the input of both feed-forward multiplies, and one result of 4 columns each; attention keeps its own.
  EXPECT_EQ(saved_by_layer(all) - saved_by_layer(heads), tokens * (h + to_d(all.model.ffn) + (4 - 2) * 4.0) * 2);
}

TEST(Adapters, WithDropoutKeepAnInputOfTheirOwnEach) {
  Scenario s = with_adapters(4, kQueriesValues);
  const double without = saved_by_layer(s),
               inputs = to_d(s.training.micro_batch * s.training.sequence * s.model.hidden);
  s.training.lora.dropout = 0.1;
  EXPECT_EQ(saved_by_layer(s) - without, inputs * (2 * (2 + kMask) - 2));
  s.training.lora.dropout = 0.5;  // what it is does not matter
  EXPECT_EQ(saved_by_layer(s) - without, inputs * (2 * (2 + kMask) - 2));
}

TEST(Adapters, InFp32HaveTheirInputCastThereAndBack) {
  Scenario s = with_adapters(4, kQueriesValues);
  const auto bytes = [&] {
    const Blocks model = frozen_blocks(s);  // which outlives the loop
    double sum = 0;
    for (const Kernel& kernel : model.at(1).forward)
      if (const auto* touched = std::get_if<Elementwise>(&kernel)) sum += touched->bytes;
    return sum;
  };
  const double inputs = to_d(s.training.micro_batch * s.training.sequence * s.model.hidden);
  for (const double dropout : {0.0, 0.1}) {
    s.training.lora.dropout = dropout;
    s.software.fp32_adapters = false;
    const double without = bytes();
    s.software.fp32_adapters = true;
    EXPECT_EQ(bytes() - without, 2 * inputs * (2 * (2 + 4) + (dropout > 0 ? 2 * (4 - 2) : 0)));
  }
}

TEST(Adapters, SaveMostOfAStepOfDataRanks) {
  Scenario s = with_adapters(4);
  s.cluster.gpus = s.parallelism.data = 8;
  for (const int zero : {0, 1, 2}) {
    s.data_parallel.zero = zero;
    Scenario whole = s;
    whole.training.lora = {};
    const Forecast some = forecast(s), all = forecast(whole);
    EXPECT_LT(some.stages[0].time.exposed_data, all.stages[0].time.exposed_data) << "zero " << zero;
    EXPECT_LT(some.step, all.step) << "zero " << zero;
  }
}

TEST(Adapters, KeepTheBaseInFourBits) {
  Scenario s = with_adapters(4);
  const Forecast plain = forecast(s);
  s.training.lora.base = BaseWeights::nf4;
  const Forecast packed = forecast(s);
  s.training.lora.base = BaseWeights::nf4_double_quant;
  const Forecast twice = forecast(s);
  const Blocks model = frozen_blocks(s);
  const double layers = to_d(s.model.layers) * model.at(1).frozen_parameters;
  const double rounding = to_d(s.model.layers) * 4096 * 2;  // each layer's up to what many ranks can share evenly
  EXPECT_NEAR(static_cast<double>((plain.stages[0].memory.parameters - packed.stages[0].memory.parameters).value),
              layers * (2 - 0.5625), rounding);
  EXPECT_NEAR(static_cast<double>((packed.stages[0].memory.parameters - twice.stages[0].memory.parameters).value),
              layers * (0.0625 - (1 + 4 / 256.0) / 64), rounding);
  EXPECT_GT(packed.step, plain.step);  // weights are unpacked for each multiply
}

TEST(Adapters, OfFourBitsGatherFourBits) {
  Scenario s = with_adapters(4);
  s.cluster.gpus = s.parallelism.data = 8;
  s.data_parallel.zero = 3;
  s.software.data_overlap = false;
  const Time plain = forecast(s).stages[0].time.parameters;
  s.training.lora.base = BaseWeights::nf4;
  const Time packed = forecast(s).stages[0].time.parameters;
  EXPECT_LT(packed, plain);
  EXPECT_GT(packed, Time{plain.value / 4});
}

TEST(Adapters, HaveVersionsWhereFrozenWeightsHaveOne) {
  Scenario s = with_adapters(4);
  s.cluster.gpus = s.parallelism.pipeline = 4;
  const double one = static_cast<double>(forecast(s).stages[0].memory.parameters.value);
  s.pipeline.schedule = "pipedream";
  const MemoryUse versions = forecast(s).stages[0].memory;
  EXPECT_GT(static_cast<double>(versions.parameters.value), one);
  EXPECT_LT(static_cast<double>(versions.parameters.value), 1.02 * one);
}

TEST(Adapters, OfUnfoldedRanksTakeAsLong) {
  for (const std::uint32_t tensor : {1u, 2u}) {
    Scenario s = with_adapters(4);
    s.cluster.gpus = 8;
    s.parallelism = {.tensor = tensor, .pipeline = 2, .data = 4 / tensor, .sequence = tensor > 1};
    EXPECT_EQ(forecast(s).step, forecast(s, {.unfold = true}).step) << tensor;
  }
}

TEST(Adapters, StayIn16BitsBesideMultipliesIn8) {
  Scenario s = with_adapters(4);
  s.cluster.gpus = 2;
  s.cluster.gpu.peak[Precision::fp8] = {600e12};
  s.training.precision = Precision::fp8;
  s.parallelism = {.tensor = 2, .sequence = true};
  const Blocks model = frozen_blocks(s);
  int gathers = 0, casts = 0, multiplies = 0;
  for (const Kernel& kernel : model.at(1).forward) {
    const auto* gemm = std::get_if<Gemm>(&kernel);
    if (gemm != nullptr) {
      EXPECT_EQ(gemm->low_precision, gemm->kind != OperatorKind::adapter);
    }
    if (gemm != nullptr && gemm->low_precision) ++multiplies;
    if (kind(kernel) == OperatorKind::cast) ++casts;
    const auto* traffic = std::get_if<TensorCollective>(&kernel);
    const double whole = to_d(s.training.micro_batch * s.training.sequence * s.model.hidden) * 2;
    if (traffic != nullptr && traffic->operation == collectives::Operation::all_gather &&
        static_cast<double>(traffic->bytes.value) == whole)
      ++gathers;
  }
  EXPECT_EQ(multiplies, 4);
  EXPECT_EQ(casts, 4);    // of the input of each; the norms before two of them write 16 bits
  EXPECT_EQ(gathers, 4);  // the inputs of two in 16 bits, and what is added behind the other two
}

std::string problem_of(const Scenario& s) {
  const std::vector<Problem> problems = check(s);
  return problems.empty() ? "" : problems.front().key + ": " + problems.front().text;
}

TEST(Adapters, AreRefusedWhereTheyAreNotBuilt) {
  EXPECT_EQ(problem_of(with_adapters(4)), "");
  Scenario s = with_adapters(4);
  s.training.frozen_layers = 2;
  EXPECT_EQ(problem_of(s),
            "training.frozen_layers: found 2 with training.lora.rank, which freezes all of the model; expected 0");
  s = with_adapters(4, {.query_key_value = true, .queries = true});
  EXPECT_EQ(problem_of(s),
            "training.lora.target_modules: found linear_qkv beside q_proj, k_proj or v_proj, which are parts of it");
  s = with_adapters(4, {.gate = true});
  s.model.family = Family::gpt;
  EXPECT_EQ(
      problem_of(s),
      "training.lora.target_modules: found gate_proj, but this model's feed-forward blocks have no gate; expected "
      "up_proj");
  s = with_adapters(3);
  s.cluster.gpus = s.parallelism.tensor = 2;
  EXPECT_EQ(problem_of(s), "training.lora.rank: rank 3 is not shared out evenly by parallelism.tensor 2");
}

TEST(Documents, AttendToThemselvesAlone) {
  Scenario s = with_adapters(4);
  s.training.lora = {};
  const Time whole = forecast(s).step;
  s.training.document_length = s.training.sequence;
  EXPECT_EQ(forecast(s).step, whole);
  s.training.document_length = s.training.sequence / 8;
  EXPECT_LT(forecast(s).step, whole);
  const Blocks model = blocks(s);
  const auto core = std::ranges::find_if(model.at(1).forward,
                                         [](const Kernel& k) { return std::holds_alternative<FusedAttention>(k); });
  EXPECT_DOUBLE_EQ(std::get<FusedAttention>(*core).seen(), 1.0 / 16);
}

}  // namespace
}  // namespace stepcast::schedules
