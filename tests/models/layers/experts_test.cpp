#include "models/layers/experts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "models/layers/blocks.h"
#include "models/layers/expert_load.h"
#include "models/layers/model_blocks.h"
#include "models/layers/stack_sizes.h"
#include "schedules/checks/check.h"
#include "tests/models/models.h"
#include "tests/schedules/saved.h"
#include "tests/schedules/scenarios.h"

namespace stepcast::schedules {
namespace {

double d(std::int64_t n) { return static_cast<double>(n); }

Scenario on_one_gpu(Model model, std::int64_t sequence = 4096) {
  Scenario s = round_numbers(1);
  s.model = std::move(model);
  s.training.sequence = sequence;
  s.training.global_batch = 1;
  s.training.attention = Attention::flash;
  return s;
}

double whole_parameters(const Model& model) {
  const Blocks all = blocks(on_one_gpu(model));
  return parameters(all, cut(all, 1));
}

TEST(Parameters, OfExpertsMatchThePublishedCounts) {
  EXPECT_EQ(whole_parameters(mixtral_8x7b()), 46'702'792'704.0);  // the checkpoint
  EXPECT_EQ(whole_parameters(deepseek_v2()), 235'741'434'880.0);  // likewise
  // 671 billion. The checkpoint has 256 more a layer: a bias that balances loads and is not trained by gradients.
  EXPECT_EQ(whole_parameters(deepseek_v3()) + 58 * 256, 671'026'419'200.0);
}

TEST(ActiveParameters, MatchThePublishedCounts) {
  EXPECT_EQ(whole_parameters(mixtral_8x7b()) - idle_parameters(mixtral_8x7b()), 12'879'925'248.0);     // 12.9 billion
  EXPECT_NEAR((whole_parameters(deepseek_v2()) - idle_parameters(deepseek_v2())) / 21.4e9, 1, 0.005);  // "21B"
  EXPECT_NEAR((whole_parameters(deepseek_v3()) - idle_parameters(deepseek_v3())) / 37.5e9, 1, 0.005);  // "37B"
  EXPECT_EQ(idle_parameters(Model{"", Family::llama, 32, 4096, 32, 32, 11008, 32000, ""}), 0);
}

TEST(ModelFlops, OfExpertsAreSixPerActiveMatrixParameterAndToken) {
  const Model m = mixtral_8x7b();
  const double h = 4096, tokens = 4096, norms = (2 * 32 + 1) * h, embedding = 32000 * h;
  const double matrices = whole_parameters(m) - idle_parameters(m) - norms - embedding;
  const double attention = 12 * 32 * tokens * tokens * h;
  EXPECT_NEAR(model_flops(blocks(on_one_gpu(m))).value / (6 * matrices * tokens + attention), 1, 1e-12);
}

TEST(ModelFlops, OfOneExpertAreThoseOfTheDenseModelAndItsRouter) {
  Model dense{"", Family::llama, 8, 1024, 16, 16, 4096, 51200, ""}, one = dense;
  one.family = Family::moe;
  one.experts = {.count = 1, .active = 1, .ffn = 4096};
  const double router = 6 * 8 * 4096.0 * 1024;
  EXPECT_DOUBLE_EQ(model_flops(blocks(on_one_gpu(one))).value, model_flops(blocks(on_one_gpu(dense))).value + router);
  EXPECT_EQ(whole_parameters(one), whole_parameters(dense) + 8 * 1024);
}

/// Bytes of the all-to-alls of one pass.
std::vector<std::int64_t> exchanged(const Kernels& operators) {
  std::vector<std::int64_t> out;
  for (const Kernel& op : operators)
    if (const auto* c = std::get_if<TensorCollective>(&op);
        c != nullptr && c->operation == collectives::Operation::all_to_all)
      out.push_back(c->bytes.value);
  return out;
}

Scenario shared_out(std::uint32_t tensor, std::uint32_t expert) {
  Scenario s = round_numbers(16);
  s.model = small_experts();
  s.training.attention = Attention::flash;
  s.parallelism = {.tensor = tensor, .pipeline = 1, .data = 16 / tensor, .sequence = tensor > 1, .expert = expert};
  return s;
}

TEST(Dispatch, MovesEachTokenToItsExpertsAndBackBothWays) {
  // Of one rank: tokens x top-k x hidden, however many ranks share the experts. One rank sends nothing.
  const std::int64_t bytes = 1024 * 4 * 1024 * 2;
  for (const std::uint32_t expert : {2u, 4u, 16u}) {
    const Blocks model = blocks(shared_out(1, expert));
    EXPECT_EQ(exchanged(model.kinds[1].forward), (std::vector{bytes, bytes})) << expert;
    EXPECT_EQ(exchanged(model.kinds[1].backward), (std::vector{bytes, bytes})) << expert;
  }
  EXPECT_TRUE(exchanged(blocks(shared_out(1, 1)).kinds[1].forward).empty());
  // Tensor ranks route their own part of the sequence.
  EXPECT_EQ(exchanged(blocks(shared_out(4, 8)).kinds[1].forward), (std::vector{bytes / 4, bytes / 4}));
}

TEST(Dispatch, PadsToACapacity) {
  Scenario s = shared_out(1, 8);
  s.training.expert_load.capacity = 1.25;
  // 1024 x 4 / 32 copies an expert, a quarter more.
  EXPECT_EQ(routing(s).sent, 32 * 160);
  EXPECT_EQ(routing(s).per_expert, 8 * 160);
  EXPECT_EQ(routing(s).local_experts, 4);
}

TEST(Experts, OfOneRankAreSharedOutWithTheirWork) {
  const auto flops = [](const Scenario& s) { return model_flops(blocks(s)).value; };
  for (const std::uint32_t expert : {2u, 8u, 32u}) {
    Scenario s = shared_out(1, 1);
    const Block alone = blocks(s).kinds[1];
    const double work = flops(s);
    s.parallelism.expert = expert;
    const Block shared = blocks(s).kinds[1];
    const double experts = 32 * 3 * 1024.0 * 1024;
    EXPECT_EQ(shared.expert_parameters, experts / expert);
    EXPECT_EQ(alone.parameters - shared.parameters, experts - experts / expert);
    EXPECT_EQ(shared.saved, alone.saved);  // as many tokens visit this rank's experts as leave for others
    EXPECT_DOUBLE_EQ(flops(s), work);
  }
}

TEST(Experts, ThatRanksShareGatherTheirTokensAndAddUpTheirParts) {
  const auto of = [](const Kernels& kernels) {
    std::vector<std::pair<collectives::Operation, std::int64_t>> out;
    for (const Kernel& kernel : kernels)
      if (const auto* c = std::get_if<TensorCollective>(&kernel); c != nullptr && c->among == Among::expert_tensor)
        out.emplace_back(c->operation, c->bytes.value);
    return out;
  };
  const auto flops = [](const Kernels& kernels) {
    double sum = 0;
    for (const Kernel& kernel : kernels)
      if (const auto* gemm = std::get_if<Gemm>(&kernel);
          gemm != nullptr && (gemm->kind == OperatorKind::experts_in || gemm->kind == OperatorKind::experts_out))
        sum += gemm->shape.flops().value;
    return sum;
  };
  Scenario s = shared_out(2, 8);
  const Block whole = blocks(s).kinds[1];
  s.parallelism.expert = 4;
  s.parallelism.expert_tensor = 2;
  const Block shared = blocks(s).kinds[1];
  // Both ranks of a pair have the copies of both: tokens x top-k x hidden, 1024 tokens of the pair.
  const std::int64_t both = std::int64_t{1024} * 4 * 1024 * 2;
  using enum collectives::Operation;
  EXPECT_EQ(of(shared.forward), (std::vector{std::pair{all_gather, both}, {reduce_scatter, both}}));
  EXPECT_EQ(of(shared.backward), (std::vector{std::pair{all_gather, both}, {reduce_scatter, both}}));
  EXPECT_EQ(exchanged(shared.forward), (std::vector{both / 2, both / 2}));  // each its own, as without sharing
  EXPECT_EQ(shared.expert_parameters, whole.expert_parameters);
  EXPECT_DOUBLE_EQ(flops(shared.forward), flops(whole.forward));
  EXPECT_DOUBLE_EQ(flops(shared.backward), flops(whole.backward));
  // Twice the copies as inputs, half the width of what is made of them: 2 (h + 3 f / 2) in place of h + 3 f.
  EXPECT_EQ(shared.saved - whole.saved, 512 * 4 * (2 * 1024 + 4));
}

TEST(Experts, AllSharedByTensorRanksNeedNoExchange) {
  Scenario s = shared_out(4, 1);
  s.parallelism.expert_tensor = 4;
  EXPECT_TRUE(check(s).empty());
  EXPECT_TRUE(exchanged(blocks(s).kinds[1].forward).empty());
  EXPECT_EQ(blocks(s).kinds[1].expert_parameters, 32 * 3 * 1024.0 * 1024 / 4);
}

TEST(SavedActivations, OfExpertsAreTheInputsOfTheirMultiplies) {
  Scenario s = shared_out(1, 8);
  const double tokens = 1024, h = 1024, f = 1024, k = 4;
  const double attention_and_norms = 2 * tokens * (4 * h + 4 * h) + 4 * tokens * 16;
  const double routed = k * tokens * (2 * (h + 3 * f) + 4), shared = 2 * tokens * 3 * f, router = 8 * tokens * 32;
  const StackSizes sizes = stack_sizes(s, s.training.sequence, true);
  EXPECT_EQ(saved_activation_bytes(s, sizes, Recompute::none, FeedForward::experts),
            attention_and_norms + routed + shared + router);
  EXPECT_EQ(saved_activation_bytes(s, sizes, Recompute::full, FeedForward::experts), 2 * tokens * h);
}

TEST(Experts, OfAWidthOfTheirOwnGetTokensInIt) {
  Scenario s = shared_out(1, 8);
  const Block whole = blocks(s).kinds[1];
  s.model.experts.latent = 256;
  const Block narrow = blocks(s).kinds[1];
  EXPECT_EQ(narrow.expert_parameters, whole.expert_parameters / 4);
  EXPECT_EQ(narrow.parameters - narrow.expert_parameters,
            whole.parameters - whole.expert_parameters + 2 * 1024.0 * 256);  // there and back
  const auto sent = [](const Kernels& kernels) {
    double bytes = 0;
    for (const Kernel& kernel : kernels)
      if (const auto* traffic = std::get_if<TensorCollective>(&kernel); traffic != nullptr)
        if (traffic->among == Among::dispatch || traffic->among == Among::combine) bytes += d(traffic->bytes.value);
    return bytes;
  };
  EXPECT_EQ(sent(narrow.forward), sent(whole.forward) / 4);
  EXPECT_EQ(sent(narrow.backward), sent(whole.backward) / 4);
}

TEST(Experts, WithoutAGateHaveTwoMatricesAndKeepWhatEntersTheActivation) {
  Scenario s = shared_out(1, 8);
  const Block gated = blocks(s).kinds[1];
  s.model.variations.activation = Activation::squared_relu;
  const Block plain = blocks(s).kinds[1];
  const double tokens = 1024, f = 1024, k = 4;
  EXPECT_EQ(plain.expert_parameters, gated.expert_parameters * 2 / 3);
  EXPECT_EQ(gated.saved - plain.saved, 2 * (k + 1) * tokens * f);  // of the experts and of the shared one
}

TEST(Experts, BiasesOfTheirResultsAreAddedOneByOne) {
  Scenario s = shared_out(1, 8);
  s.software.grouped_multiply = true;
  const auto launches_of = [&] {
    int all = 0;
    const Block layer = blocks(s).kinds[1];
    for (const Kernel& kernel : layer.forward)
      if (kind(kernel) == OperatorKind::bias) all += launches(kernel);
    return all;
  };
  EXPECT_EQ(launches_of(), 0);
  s.model.variations.biases = Biases::feed_forward;
  s.software.biases = true;
  EXPECT_EQ(launches_of(), 2 * 32 / 8 + 2);
}

TEST(ExpertLoad, IsEvenUnlessASpreadIsAsked) {
  Scenario s = shared_out(1, 8);
  EXPECT_EQ(rank_loads(s), std::vector<double>(8, 1));
  EXPECT_EQ(routing(s).per_expert, 1024 * 4 * 8 / 32);
}

TEST(ExpertLoad, IsDrawnOnceForASeedWithTheSpreadAsked) {
  Scenario s = shared_out(1, 8);
  s.model.experts.count = 8192;
  s.parallelism.expert = 8192;
  s.training.expert_load = {.capacity = {}, .spread = 0.5, .seed = 7};
  const std::vector<double> loads = rank_loads(s);
  EXPECT_EQ(loads, rank_loads(s));
  EXPECT_NEAR(std::accumulate(loads.begin(), loads.end(), 0.0) / 8192, 1, 1e-12);
  double squares = 0;
  for (const double load : loads) squares += (load - 1) * (load - 1);
  EXPECT_NEAR(std::sqrt(squares / 8192), 0.5, 0.03);
  s.training.expert_load.seed = 8;
  EXPECT_NE(loads, rank_loads(s));
}

TEST(ExpertLoad, TheBusiestRankSetsThePaceAndManyExpertsARankEvenItOut) {
  Scenario s = shared_out(1, 16);
  s.training.expert_load.spread = 0.5;
  const std::vector<double> loads = rank_loads(s);
  const double busiest = std::ranges::max(loads);
  EXPECT_GT(busiest, 1.1);
  EXPECT_NEAR(d(routing(s).per_expert), busiest * 1024 * 4 * 16 / 32, 1);
  EXPECT_EQ(routing(s).sent, 1024 * 4);
  s.parallelism.expert = 2;
  EXPECT_LT(std::ranges::max(rank_loads(s)), busiest);
}

}  // namespace
}  // namespace stepcast::schedules
