#include "models/layers/sequence_parts.h"

#include <gtest/gtest.h>

#include "models/layers/model_blocks.h"
#include "schedules/checks/check.h"
#include "tests/models/layers/first_layer.h"
#include "tests/models/layers/pass_bytes.h"
#include "tests/models/layers/shared_sequence.h"

namespace stepcast::schedules {
namespace {

/// Tensors of batch x sequence x hidden.
Scenario batches_first() {
  Scenario s = shared_sequence();
  s.software.batch_first = true;
  EXPECT_TRUE(check(s).empty()) << check(s).front().text;
  return s;
}

double touched(const Kernels& pass) { return touched_bytes(pass, OperatorKind::sequence_parts); }

constexpr double kWholeInput = 2.0 * 2 * 1024 * 2048;  // bytes of what enters a multiply

// Two gathers and two sums forward; backward gathers gradients and inputs, and sums two gradients. Each copy reads and
// writes.
TEST(SequenceParts, AllThatIsGatheredOrScatteredIsReadAndWrittenOnceMore) {
  const Block layer = first_layer(batches_first());
  EXPECT_EQ(touched(layer.forward), 2 * 4 * kWholeInput);
  EXPECT_EQ(touched(layer.backward), 2 * 6 * kWholeInput);
}

TEST(SequenceParts, StandBehindGathersAndBeforeScatters) {
  const Block layer = first_layer(batches_first());
  int gathers = 0, scatters = 0;
  for (std::size_t i = 0; i < layer.forward.size(); ++i)
    if (const auto* traffic = std::get_if<TensorCollective>(&layer.forward[i])) {
      const bool gather = traffic->operation == collectives::Operation::all_gather;
      ++(gather ? gathers : scatters);
      EXPECT_EQ(kind(layer.forward[gather ? i + 1 : i - 1]), OperatorKind::sequence_parts);
    }
  EXPECT_EQ(gathers, 2);
  EXPECT_EQ(scatters, 2);
}

TEST(SequenceParts, WaitForAGatherThatAMultiplyHides) {
  Scenario s = batches_first();
  s.software.tensor_overlap = TensorOverlap::backward;
  const Block layer = first_layer(s);
  for (std::size_t i = 0; i < layer.backward.size(); ++i)
    if (const auto* traffic = std::get_if<TensorCollective>(&layer.backward[i]);
        traffic != nullptr && traffic->under_next && traffic->operation == collectives::Operation::all_gather) {
      EXPECT_TRUE(multiplies(layer.backward[i + 1]));
      EXPECT_EQ(kind(layer.backward[i + 2]), OperatorKind::sequence_parts);
    }
  EXPECT_EQ(touched(layer.backward), 2 * 6 * kWholeInput);
}

TEST(SequenceParts, FollowTheCasts) {
  Scenario s = batches_first();
  s.training.precision = Precision::fp8;
  s.cluster.gpu.peak[Precision::fp8] = {600e12};
  EXPECT_EQ(touched(first_layer(s).forward), 2 * (2 * kWholeInput / 2 + 2 * kWholeInput));  // sums are of 16 bits
}

TEST(SequenceParts, AreOfTheRestWhereMultipliesGoPartByPart) {
  Scenario s = batches_first();
  s.software.tensor_overlap = TensorOverlap::all;
  EXPECT_EQ(touched(first_layer(s).forward), 0);
  EXPECT_GT(touched(blocks(s).kinds.front().forward), 0);  // the embedding's sum
}

// Own parts are copied before two gathers, and what the ranks sent for two sums is read and the sum written. Backward
// gathers two gradients so; the gradients of what several multiplies read are summed first, so nothing hides their
// sums.
TEST(SequenceParts, OfMicroPipelinesAreCopiedBeforeGathersAndSummedBehindScatters) {
  Scenario s = batches_first();
  s.software.micro_pipeline = true;
  s.software.tensor_overlap = TensorOverlap::all;
  s.software.gather_inputs_again = false;
  const Block layer = first_layer(s);
  EXPECT_EQ(touched(layer.forward), (2 * 2 * 0.25 + 2 * 1.25) * kWholeInput);
  EXPECT_EQ(touched(layer.backward), (2 * 2 * 0.25 + 2 * 2) * kWholeInput);
  for (const Kernels* pass : {&layer.forward, &layer.backward})
    for (const Kernel& op : *pass)
      if (const auto* traffic = std::get_if<TensorCollective>(&op)) {
        const bool hidden = pass == &layer.forward || traffic->operation == collectives::Operation::all_gather;
        EXPECT_EQ(traffic->parts, hidden ? 4 : 1);
        EXPECT_FALSE(traffic->under_next);
      }
}

TEST(SequenceParts, OfMicroPipelinesAreOfLayersAlone) {
  Scenario s = batches_first();
  s.software.micro_pipeline = true;
  const Kernels alone = blocks(s).kinds.back().forward;
  s.software.tensor_overlap = TensorOverlap::all;
  const Kernels overlapped = blocks(s).kinds.back().forward;
  EXPECT_EQ(touched(overlapped), touched(alone));
  for (const Kernel& op : overlapped)
    if (const auto* traffic = std::get_if<TensorCollective>(&op)) {
      EXPECT_EQ(traffic->parts, 1);
    }
}

TEST(SequenceParts, AreNoneOfWholeSequencesOrWhereTheSequenceIsFirst) {
  Scenario s = batches_first();
  s.parallelism.sequence = false;
  EXPECT_EQ(touched(first_layer(s).forward) + touched(first_layer(s).backward), 0);
  s = batches_first();
  s.software.batch_first = false;
  EXPECT_EQ(touched(first_layer(s).forward) + touched(first_layer(s).backward), 0);
}

}  // namespace
}  // namespace stepcast::schedules
