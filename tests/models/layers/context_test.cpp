// Attention of ranks that share a sequence.

#include <gtest/gtest.h>

#include <algorithm>

#include "models/layers/attention.h"
#include "models/layers/stack_sizes.h"
#include "tests/models/layers/pass_bytes.h"
#include "tests/schedules/saved.h"
#include "tests/schedules/scenarios.h"

namespace stepcast::schedules {
namespace {

using collectives::Operation;

Scenario with_context(std::uint32_t ranks, ContextMethod method) {
  Scenario s = round_numbers(8);
  s.model = {"", Family::llama, 16, 2048, 16, 8, 8192, 51200, ""};
  s.training.sequence = 8192;
  s.training.attention = Attention::flash;
  s.parallelism.context = ranks;
  s.parallelism.context_method = method;
  return s;
}

struct Passes {
  Kernels forward, backward;
};

Passes attention_of(const Scenario& s) {
  const StackSizes z = stack_sizes(s, s.training.sequence, true);
  OperatorList list;
  Writer w(s, z, list);
  self_attention(w);
  return {list.forward, backward_pass(list)};
}

double attention_flops(const Kernels& operators) {
  double flops = 0;
  for (const Kernel& op : operators)
    if (const auto* fused = std::get_if<FusedAttention>(&op)) flops += fused->flops.value;
  return flops;
}

std::int64_t bytes_of(const Kernels& operators, Among among, Operation operation) {
  std::int64_t bytes = 0;
  for (const Kernel& op : operators)
    if (const auto* c = std::get_if<TensorCollective>(&op); c && c->among == among && c->operation == operation)
      bytes += c->bytes.value;
  return bytes;
}

constexpr ContextMethod kMethods[] = {ContextMethod::ring, ContextMethod::all_gather, ContextMethod::ulysses};

TEST(Context, RanksShareAttentionsWorkEvenly) {
  const Passes alone = attention_of(with_context(1, ContextMethod::ring));
  for (const ContextMethod method : kMethods)
    for (const std::uint32_t ranks : {2u, 4u, 8u}) {
      const Passes shared = attention_of(with_context(ranks, method));
      EXPECT_DOUBLE_EQ(attention_flops(shared.forward) * ranks, attention_flops(alone.forward));
      EXPECT_DOUBLE_EQ(attention_flops(shared.backward) * ranks, attention_flops(alone.backward));
    }
}

TEST(Context, EachMethodMovesWhatItsPaperSays) {
  // Of one rank of four: 2048 tokens, 16 heads of queries, 8 of keys and 8 of values, 128 wide, 2 bytes.
  const std::int64_t keys_values = 2048 * 16 * 128 * 2, queries = 2048 * 16 * 128 * 2;
  const Passes ring = attention_of(with_context(4, ContextMethod::ring));
  EXPECT_EQ(bytes_of(ring.forward, Among::context_ring, Operation::send_recv), 3 * keys_values);
  EXPECT_EQ(bytes_of(ring.backward, Among::context_ring, Operation::send_recv), (3 + 4) * keys_values);
  const Passes gather = attention_of(with_context(4, ContextMethod::all_gather));
  EXPECT_EQ(bytes_of(gather.forward, Among::context, Operation::all_gather), 4 * keys_values);
  EXPECT_EQ(bytes_of(gather.backward, Among::context, Operation::all_gather), 4 * keys_values);
  EXPECT_EQ(bytes_of(gather.backward, Among::context, Operation::reduce_scatter), 4 * keys_values);
  const Passes ulysses = attention_of(with_context(4, ContextMethod::ulysses));
  EXPECT_EQ(bytes_of(ulysses.forward, Among::context, Operation::all_to_all), queries + keys_values + queries);
  EXPECT_EQ(bytes_of(ulysses.backward, Among::context, Operation::all_to_all), queries + keys_values + queries);
}

TEST(Context, RingPassesKeysUnderAttentionButTheLastGradients) {
  for (const bool forward : {true, false}) {
    const Passes passes = attention_of(with_context(4, ContextMethod::ring));
    int hidden = 0, seen = 0;
    for (const Kernel& op : forward ? passes.forward : passes.backward)
      if (const auto* c = std::get_if<TensorCollective>(&op); c && c->among == Among::context_ring) {
        hidden += c->under_next;
        ++seen;
      }
    EXPECT_EQ(hidden, forward ? 3 : 4);
    EXPECT_EQ(seen, forward ? 3 : 5);
  }
}

TEST(Context, StepsGatherOnceUnderTheFirstAndPassGradientsOnInFp32) {
  Scenario s = with_context(4, ContextMethod::all_gather);
  const double whole = attention_flops(attention_of(s).forward);
  s.software.context_in_steps = true;
  const Passes steps = attention_of(s);
  EXPECT_DOUBLE_EQ(attention_flops(steps.forward), whole);
  const std::int64_t keys_values = 2048 * 16 * 128;  // elements of one rank
  EXPECT_EQ(bytes_of(steps.forward, Among::context, Operation::all_gather), 4 * keys_values * 2);
  EXPECT_EQ(bytes_of(steps.backward, Among::context, Operation::all_gather), 4 * keys_values * 2);
  EXPECT_EQ(bytes_of(steps.backward, Among::context, Operation::reduce_scatter), 0);
  EXPECT_EQ(bytes_of(steps.backward, Among::context_ring, Operation::send_recv), 4 * keys_values * 4);
  const auto gather = std::ranges::find_if(steps.forward, [](const Kernel& op) {
    const auto* c = std::get_if<TensorCollective>(&op);
    return c && c->among == Among::context;
  });
  ASSERT_NE(gather, steps.forward.end());
  EXPECT_TRUE(std::get<TensorCollective>(*gather).under_next);
  EXPECT_TRUE(std::holds_alternative<FusedAttention>(*(gather + 1)));

  s.parallelism.context_method = ContextMethod::ring;
  const Passes ring = attention_of(s);
  EXPECT_EQ(bytes_of(ring.forward, Among::context_ring, Operation::send_recv), 3 * keys_values * 2);
  EXPECT_EQ(bytes_of(ring.backward, Among::context_ring, Operation::send_recv),
            3 * keys_values * 2 + 4 * keys_values * 4);
}

TEST(Context, StepsAreJoinedByKernelsOfTheirOwnWhichInductorFuses) {
  Scenario s = with_context(2, ContextMethod::all_gather);
  EXPECT_EQ(touched_bytes(attention_of(s).forward, OperatorKind::fused_attention), 0);
  s.software.context_in_steps = true;
  s.software.elementwise_by = KernelMaker::inductor;
  const double results = 4096 * 16 * 128;
  // To fp32, one join (all: read fp32 and bf16, write fp32; or half, with the copy of the rest), and back.
  EXPECT_DOUBLE_EQ(touched_bytes(attention_of(s).forward, OperatorKind::fused_attention),
                   results * (6 + (10 + 9) / 2. + 6));
  s.software.elementwise_by = KernelMaker::pytorch;
  EXPECT_GT(touched_bytes(attention_of(s).forward, OperatorKind::fused_attention), results * 30);
}

TEST(Context, KeysAndValuesThatAreCopiedForEveryQueryHeadMoveAsMany) {
  Scenario s = with_context(4, ContextMethod::all_gather);
  s.software.repeated_keys_values = true;
  const Passes passes = attention_of(s);
  const std::int64_t copies = 2048 * 32 * 128, once = copies / 2;  // 16 heads of queries, 8 of keys and values
  EXPECT_EQ(bytes_of(passes.forward, Among::context, Operation::all_gather), 4 * copies * 2);
  EXPECT_DOUBLE_EQ(touched_bytes(passes.forward, OperatorKind::key_value_copies), (once + copies) * 2.);
  EXPECT_DOUBLE_EQ(touched_bytes(passes.backward, OperatorKind::key_value_copies), (once + copies) * 2.);
}

TEST(Context, SharesActivations) {
  const auto saved = [](std::uint32_t ranks) {
    const Scenario s = with_context(ranks, ContextMethod::ulysses);
    return saved_activation_bytes(s, stack_sizes(s, s.training.sequence, true), Recompute::none);
  };
  for (const std::uint32_t ranks : {2u, 8u}) EXPECT_DOUBLE_EQ(saved(ranks) * ranks, saved(1));
}

}  // namespace
}  // namespace stepcast::schedules
