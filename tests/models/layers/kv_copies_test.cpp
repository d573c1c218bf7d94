// More tensor ranks than heads of keys and values: several ranks hold the same head.

#include <gtest/gtest.h>

#include "models/layers/attention.h"
#include "models/layers/blocks.h"
#include "models/layers/model_blocks.h"
#include "schedules/checks/check.h"
#include "schedules/forecast.h"
#include "schedules/parallel/inner_groups.h"
#include "schedules/pass_times/layer_traffic.h"
#include "tests/models/layers/first_layer.h"
#include "tests/schedules/scenarios.h"

namespace stepcast::schedules {
namespace {

using collectives::Operation;

constexpr std::int64_t kGroupedHidden = 2048, kGroupedHeads = 32, kWidth = kGroupedHidden / kGroupedHeads,
                       kGroupedTokens = 2 * 1024;

/// 32 heads of queries, `kv_heads` of keys and values.
Scenario grouped(std::int64_t kv_heads, std::uint32_t tensor, Family family = Family::llama) {
  Scenario s = round_numbers(tensor);
  s.model = {"grouped", family, 4, kGroupedHidden, kGroupedHeads, kv_heads, 8192, 51200, ""};
  s.training = {.global_batch = 4, .micro_batch = 2, .sequence = 1024, .precision = Precision::bf16};
  s.training.attention = Attention::flash;
  s.parallelism.tensor = tensor;
  return s;
}

/// Of queries, keys and values: forward, or the gradient of the weight.
const Gemm& multiply(const Kernels& pass, bool of_weights = false) {
  for (const Kernel& op : pass)
    if (const auto* gemm = std::get_if<Gemm>(&op);
        gemm != nullptr && gemm->kind == OperatorKind::query_key_value && gemm->of_weights == of_weights)
      return *gemm;
  throw std::logic_error("no such multiply");
}

std::vector<TensorCollective> sums_over_copies(const Kernels& pass) {
  std::vector<TensorCollective> sums;
  for (const Kernel& op : pass)
    if (const auto* c = std::get_if<TensorCollective>(&op); c != nullptr && c->among == Among::kv_copies)
      sums.push_back(*c);
  return sums;
}

TEST(KvCopies, EachRankMultipliesForOneHeadOfKeysAndValues) {
  for (const std::uint32_t tensor : {1u, 2u, 4u, 8u, 16u, 32u}) {
    const std::int64_t heads = std::max<std::int64_t>(4 / tensor, 1);
    const Block layer = first_layer(grouped(4, tensor));
    const std::int64_t columns = kGroupedHidden / tensor + 2 * heads * kWidth;
    EXPECT_EQ(multiply(layer.forward).shape.n, columns) << tensor;
    EXPECT_EQ(multiply(layer.backward, true).shape.m, columns) << tensor;
  }
}

// Keys and values of h x 2 kv a h/heads are on every one of `copies` ranks, and so are their biases; the rest once.
TEST(KvCopies, RanksHoldTheirCopiesAndTheModelItsPublishedParameters) {
  for (const Family family : {Family::llama, Family::gpt})
    for (const std::uint32_t tensor : {1u, 4u, 8u, 32u}) {
      const Scenario s = grouped(4, tensor, family);
      const double copies = std::max(tensor / 4.0, 1.0),
                   kv = 2.0 * 4 * kWidth * (kGroupedHidden + (family == Family::gpt));
      const double all = first_layer(grouped(4, 1, family)).parameters,
                   whole = (family == Family::gpt ? 6 : 2) * kGroupedHidden;
      EXPECT_EQ(tensor * first_layer(s).parameters, all - whole + (copies - 1) * kv + tensor * whole) << tensor;
      EXPECT_EQ(forecast(s).parameters, forecast(grouped(4, 1, family)).parameters);
    }
}

TEST(KvCopies, MemoryHoldsTheCopiesStateAndTheirKeysAndValues) {
  const Scenario alone = grouped(4, 16), none = grouped(16, 16);
  // A head of keys and values on every rank either way; what differs is only who else has it.
  EXPECT_EQ(first_layer(alone).parameters, first_layer(none).parameters);
  EXPECT_EQ(first_layer(alone).saved, first_layer(none).saved);
  const MemoryUse copied = forecast(alone).stages.front().memory, own = forecast(none).stages.front().memory;
  EXPECT_EQ(copied.parameters, own.parameters);
  EXPECT_EQ(copied.gradients, own.gradients);
  EXPECT_EQ(copied.optimizer, own.optimizer);
  EXPECT_EQ(copied.peak(), own.peak());
}

TEST(KvCopies, BackwardSumsGradientsOfKeysAndValuesOverTheRanksOfAHead) {
  for (const std::uint32_t tensor : {2u, 4u, 8u, 32u}) {
    const Block layer = first_layer(grouped(4, tensor));
    EXPECT_TRUE(sums_over_copies(layer.forward).empty());
    const std::vector<TensorCollective> sums = sums_over_copies(layer.backward);
    ASSERT_EQ(sums.size(), tensor > 4 ? 1u : 0u) << tensor;
    if (sums.empty()) continue;
    EXPECT_EQ(sums.front().operation, Operation::all_reduce);
    EXPECT_EQ(sums.front().bytes.value, kGroupedTokens * 2 * kWidth * 2);
  }
}

TEST(KvCopies, ARingOfContextRanksPassesTheCopiesOn) {
  Scenario s = grouped(4, 8);
  s.cluster.gpus = 16;
  s.parallelism.context = 2;
  const StackSizes z = stack_sizes(s, s.training.sequence, true);
  OperatorList list;
  Writer w(s, z, list);
  self_attention(w);
  std::int64_t passed = 0;
  for (const Kernel& op : list.backward)
    if (const auto* c = std::get_if<TensorCollective>(&op)) {
      if (c->among == Among::context_ring) passed += c->bytes.value;
      if (c->among == Among::kv_copies) {
        EXPECT_EQ(c->bytes.value, kGroupedTokens / 2 * 2 * kWidth * 2);
      }
    }
  EXPECT_EQ(passed, (1 + 2) * kGroupedTokens / 2 * 2 * kWidth * 2);  // keys and values once, their gradients twice
}

// T5's decoder has the encoder's keys and values besides its own.
TEST(KvCopies, CrossAttentionSumsThoseOfTheEncodersTokens) {
  Scenario s = grouped(4, 8, Family::t5);
  s.model.decoder_layers = 2;
  s.training.decoder_sequence = 256;
  EXPECT_TRUE(check(s).empty()) << check(s).front().text;
  const std::vector<TensorCollective> sums = sums_over_copies(blocks(s).kinds[3].backward);
  ASSERT_EQ(sums.size(), 2u);
  EXPECT_EQ(sums[0].bytes.value, 2 * 1024 * 2 * kWidth * 2);
  EXPECT_EQ(sums[1].bytes.value, 2 * 256 * 2 * kWidth * 2);
}

TEST(KvCopies, NeighboursHoldTheSameHead) {
  Parallelism plan;
  plan.tensor = 8;
  plan.data = 2;
  const auto numbers = [](const std::vector<collectives::Group>& groups) {
    std::vector<std::vector<std::uint32_t>> out;
    for (const collectives::Group& group : groups) {
      out.emplace_back();
      for (const topology::GpuId g : group) out.back().push_back(topology::index(g));
    }
    return out;
  };
  using Numbers = std::vector<std::vector<std::uint32_t>>;
  EXPECT_EQ(numbers(kv_copies_beside(Ranks(plan, 8), {0, 0, 0}, 4)), (Numbers{{0, 1, 2, 3}, {4, 5, 6, 7}}));
  EXPECT_EQ(numbers(kv_copies_beside(Ranks(plan, 8), {5, 1, 0}, 4)), (Numbers{{12, 13, 14, 15}, {8, 9, 10, 11}}));
}

// Of a layer: the backward of four heads is that of as many heads as ranks, and one sum more.
TEST(KvCopies, TheSumIsAllThatTheyCost) {
  const Scenario copied = grouped(4, 16), own = grouped(16, 16);
  const topology::Cluster cluster =
      topology::build_cluster(copied.cluster.node, copied.cluster.fabric, copied.cluster.gpus);
  collectives::Timer timer(cluster, copied.software.transport);
  const Ranks ranks(copied.parallelism, cluster.gpus_per_node());
  const Time sum = LayerTraffic(copied, ranks, {})
                       .time(sums_over_copies(first_layer(copied).backward).front(), timer, true)
                       ->duration;
  EXPECT_EQ(
      sum,
      timer.time(Operation::all_reduce, {kGroupedTokens * 2 * kWidth * 2}, kv_copies_beside(ranks, {}, 4)).duration);
  EXPECT_EQ(forecast(copied).layer_forward, forecast(own).layer_forward);
  EXPECT_EQ(*forecast(copied).layer_backward, *forecast(own).layer_backward + sum);
}

TEST(KvCopies, FoldedIsUnfolded) {
  Scenario s = grouped(2, 8);
  s.cluster.gpus = 32;
  s.parallelism.data = s.parallelism.pipeline = 2;
  s.parallelism.sequence = true;
  ASSERT_TRUE(check(s).empty()) << check(s).front().text;
  EXPECT_EQ(forecast(s, {.unfold = true}).step, forecast(s).step);
}

TEST(KvCopies, InAGridTheColumnsShareTheHeads) {
  Scenario s = grouped(4, 16);
  s.parallelism.tensor_grid = TensorGrid{2, 8, 1};
  const Block layer = first_layer(s);
  EXPECT_EQ(multiply(layer.forward).shape.n, kGroupedHidden / 8 + 2 * kWidth);
  EXPECT_EQ(sums_over_copies(layer.backward).size(), 1u);
  EXPECT_EQ(kv_copies_beside(Ranks(s.parallelism, 8), {}, kv_copies(s.model, 8)).front().size(), 2u);
  s.parallelism.tensor_grid = TensorGrid{4, 4, 1};
  EXPECT_TRUE(sums_over_copies(first_layer(s).backward).empty());
}

std::string problem_of_copies(const Scenario& s) {
  const std::vector<Problem> problems = check(s);
  return problems.size() == 1 ? problems.front().key + ": " + problems.front().text : "not one problem";
}

TEST(KvCopies, NumbersThatDoNotShareHeadsNameTheNearestThatDo) {
  Scenario s = grouped(8, 12);
  s.cluster.node.gpus = 4;
  s.model.hidden = 48 * 64;
  s.model.heads = 48;
  s.model.ffn = 12 * 512;
  EXPECT_EQ(problem_of_copies(s),
            "parallelism.tensor: tensor 12 neither divides model.kv_heads 8 nor is a multiple of it; nearest: 8 or 16");
  s.cluster.gpus = s.parallelism.tensor = 3;
  EXPECT_EQ(problem_of_copies(s),
            "parallelism.tensor: tensor 3 neither divides model.kv_heads 8 nor is a multiple of it; nearest: 2 or 4");
  s.model.kv_heads = 16;
  s.cluster.gpus = s.parallelism.tensor = 24;
  EXPECT_EQ(
      problem_of_copies(s),
      "parallelism.tensor: tensor 24 neither divides model.kv_heads 16 nor is a multiple of it; nearest: 16 or 48");
}

TEST(KvCopies, WhatDoesNotGoWithThemIsNamed) {
  Scenario s = grouped(4, 8);
  s.parallelism.tensor_method = TensorMethod::reduce_output;
  EXPECT_EQ(problem_of_copies(s),
            "parallelism.tensor_method: reduce-output: tensor 8 of more than model.kv_heads 4 is not built; expected "
            "megatron or partition-output");
  s.parallelism.tensor_method = TensorMethod::partition_output;
  EXPECT_EQ(sums_over_copies(first_layer(s).backward).size(), 1u);
  s = grouped(8, 8);
  s.cluster.gpus = 16;
  s.parallelism.context = 2;
  s.parallelism.context_method = ContextMethod::ulysses;
  EXPECT_EQ(problem_of_copies(s),
            "parallelism.context: ulysses shares heads: context 2 x tensor 8 does not divide model.kv_heads 8");
}

}  // namespace
}  // namespace stepcast::schedules
