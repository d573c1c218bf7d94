// What stacks keep for backward of what enters multiplies and attention: what was gathered, copies of keys and values.

#include <gtest/gtest.h>

#include "models/layers/attention.h"
#include "models/layers/blocks.h"
#include "models/layers/model_blocks.h"
#include "models/layers/stack_sizes.h"
#include "tests/models/layers/first_layer.h"
#include "tests/models/layers/pass_bytes.h"
#include "tests/models/layers/shared_sequence.h"
#include "tests/schedules/scenarios.h"

namespace stepcast::schedules {
namespace {

constexpr double kWhole = kElement * 2 * 1024 * 2048;  // bytes of what enters a multiply

// Both halves of a layer gather their input. Kept, each takes three more parts of four; backward gathers the gradients
// of both halves' outputs alone.
TEST(KeptInputs, WhatWasGatheredIsKeptOrGatheredAgain) {
  Scenario s = shared_sequence();
  const Block again = first_layer(s);
  s.software.gather_inputs_again = false;
  const Block kept = first_layer(s);
  EXPECT_EQ(gathered_bytes(again.forward), 2 * kWhole);
  EXPECT_EQ(gathered_bytes(kept.forward), 2 * kWhole);
  EXPECT_EQ(gathered_bytes(again.backward), 4 * kWhole);
  EXPECT_EQ(gathered_bytes(kept.backward), 2 * kWhole);
  EXPECT_EQ(kept.saved - again.saved, 2.0 * kWhole * (kTensor - 1) / kTensor);
}

TEST(KeptInputs, TheHeadsInputLikewise) {
  Scenario s = shared_sequence();
  const auto head = [&] { return blocks(s).kinds.back(); };
  const Block again = head();
  s.software.gather_inputs_again = false;
  EXPECT_EQ(gathered_bytes(again.backward) - gathered_bytes(head().backward), kWhole);
  EXPECT_EQ(head().saved_by_loss - again.saved_by_loss, 1.0 * kWhole * (kTensor - 1) / kTensor);
}

TEST(KeptInputs, ACastIsKeptAsWideAsItIs) {
  Scenario s = shared_sequence();
  s.training.precision = Precision::fp8;
  s.cluster.gpu.peak[Precision::fp8] = {600e12};
  const Block again = first_layer(s);
  s.software.gather_inputs_again = false;
  EXPECT_EQ(first_layer(s).saved - again.saved, 2.0 * kWhole / kElement * (kTensor - 1) / kTensor);
}

TEST(KeptInputs, WholeInputsAreNotGathered) {
  Scenario s = shared_sequence();
  s.parallelism.sequence = false;
  const Block whole = first_layer(s);
  s.software.gather_inputs_again = false;
  EXPECT_EQ(first_layer(s).saved, whole.saved);
  EXPECT_EQ(gathered_bytes(first_layer(s).backward), 0);
}

// Transformers casts all logits before a fused loss: that cast and its gradient's are there beside them.
TEST(KeptInputs, AFusedLossMayReadACastOfTheLogits) {
  Scenario s = round_numbers(1);
  s.software.fused_cross_entropy = FusedLoss::yes;
  const auto head = [&] { return blocks(s).kinds.back(); };
  const double in_16_bits = head().saved_by_loss;
  s.software.fp32_loss = true;
  EXPECT_EQ(head().saved_by_loss - in_16_bits, 1024.0 * 51200 * (4 + 2));
}

// Megatron-Core's fused loss casts the logits and keeps what becomes of them; others keep the logits as they are.
TEST(KeptInputs, AFusedLossKeepsLogitsOrASoftmaxInFp32) {
  Scenario s = shared_sequence();
  s.software.fused_cross_entropy = FusedLoss::yes;
  const auto head = [&] { return blocks(s).kinds.back(); };
  const double logits = head().saved_by_loss;
  s.software.fp32_softmax = true;
  EXPECT_EQ(head().saved_by_loss - logits, 2.0 * 1024 * 51200 / kTensor * (4 - kElement));
}

// Megatron's native fusion: a cast with the maximum, exponential with sum, division; the gradient in place and its
// cast.
TEST(KeptInputs, ALossInRegionsReadsAndWritesLogitsInFp32) {
  Scenario s = round_numbers(1);
  const double logits = 1024.0 * 51200;
  const auto bytes = [](const Kernels& pass) {
    return touched_bytes(pass, OperatorKind::logit_cast) + touched_bytes(pass, OperatorKind::cross_entropy);
  };
  s.software.fused_cross_entropy = FusedLoss::yes;
  const Block in_one = blocks(s).kinds.back();
  s.software.fused_cross_entropy = FusedLoss::in_regions;
  const Block in_regions = blocks(s).kinds.back();
  EXPECT_EQ(bytes(in_one.forward), logits * 2);
  EXPECT_EQ(bytes(in_regions.forward), logits * (2 + 4 + 8 + 8));
  EXPECT_EQ(bytes(in_regions.backward), logits * (8 + 2));
  // A softmax in fp32 and the logits' gradient, in place of the logits.
  EXPECT_EQ(in_regions.saved_by_loss - in_one.saved_by_loss, logits * (4 + 2 - 2));
}

// Where scores are most of a layer, its peak is while their softmax goes backward.
TEST(KeptInputs, GradientsOfUnfusedScoresAreThereTwiceUnlessTheSoftmaxGoesInPlace) {
  Scenario s = shared_sequence();
  s.training.attention = Attention::unfused;
  s.training.sequence = 16'384;
  const double scores = 2.0 * 16 / kTensor * 16'384 * 16'384 * kElement;
  s.software.fused_softmax = true;
  const double in_place = first_layer(s).working;
  s.software.fused_softmax = false;
  const double in_16_bits = first_layer(s).working;
  EXPECT_EQ(in_16_bits - in_place, scores);
  // In fp32 two gradients are twice as large; the kept cast of the softmax is gone by then.
  s.software.fp32_scores = true;
  EXPECT_EQ(first_layer(s).working - in_16_bits, scores * (2 - 1));
}

// Transformers' eager attention: softmax in fp32, and a cast of its result, both kept.
TEST(KeptInputs, ScoresCastToFp32AreKeptAsSuchAndAsTheirCast) {
  Scenario s = shared_sequence();
  s.training.attention = Attention::unfused;
  s.software.fused_softmax = false;
  const double scores = 2.0 * 16 / kTensor * 1024 * 1024;
  const Block plain = first_layer(s);
  s.software.fp32_scores = true;
  const Block cast = first_layer(s);
  EXPECT_EQ(cast.saved - plain.saved, scores * (4 + 2 - 2));
  EXPECT_EQ(touched_bytes(cast.forward, OperatorKind::cast), scores * (4 + 2));
  EXPECT_EQ(touched_bytes(cast.backward, OperatorKind::cast), scores * (4 + 2));
}

// A fourth of 16 heads on each rank: keys and values once more than queries, keys and values.
TEST(KeptInputs, CopiesOfKeysAndValuesStandBesideWhatTheProjectionWrote) {
  Scenario s = shared_sequence();
  const Block views = first_layer(s);
  s.software.copied_keys_values = true;
  EXPECT_EQ(first_layer(s).saved - views.saved, 2.0 * kWhole / kTensor);
}

// Keys and values of cross-attention are the encoder's: 512 tokens of a sample, where the decoder has 256.
TEST(KeptInputs, CrossAttentionCopiesTheEncodersKeysAndValues) {
  Scenario s = shared_sequence();
  const auto copied = [&](const StackSizes& z) {
    OperatorList list;
    Writer w(s, z, list);
    attention_core(w, false);
    double bytes = 0;
    for (const SavedTensor& tensor : list.saved) bytes += tensor.bytes;
    return bytes;
  };
  const StackSizes z = cross_sizes(stack_sizes(s, 256, true), 512);
  const double views = copied(z);
  s.software.copied_keys_values = true;
  EXPECT_EQ(copied(z) - views, 2.0 * (2 * 512 * 2048) * kElement / kTensor);
}

TEST(KeptInputs, GroupedQueriesAreCopiedToo) {
  Scenario s = shared_sequence();
  s.model.kv_heads = 8;
  const Block before = first_layer(s);
  s.software.copied_keys_values = true;
  EXPECT_EQ(first_layer(s).saved, before.saved);
}

}  // namespace
}  // namespace stepcast::schedules
