#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "models/layers/model_blocks.h"
#include "schedules/checks/check.h"
#include "tests/models/layers/pass_bytes.h"
#include "tests/models/layers/shared_sequence.h"

namespace stepcast::schedules {
namespace {

constexpr double kLogits = 2.0 * 1024 * 51200;  // of a micro-batch, all tensor ranks together

Block head(const Scenario& s) { return blocks(s).kinds.back(); }

Scenario whole_loss() {
  Scenario s = shared_sequence();
  s.software.loss_parallel = false;
  return s;
}

// All columns reach every rank once forward; backward gathers no gradient, for each rank has computed all of it.
TEST(LossParallel, LeftOutTheRanksGatherTheLogits) {
  const Block apart = head(shared_sequence()), whole = head(whole_loss());
  EXPECT_EQ(gathered_bytes(whole.forward) - gathered_bytes(apart.forward), kLogits * kElement);
  EXPECT_EQ(gathered_bytes(whole.backward), gathered_bytes(apart.backward));
}

TEST(LossParallel, LeftOutEachRankComputesTheWholeLossAndKeepsWhatItReads) {
  const Block apart = head(shared_sequence()), whole = head(whole_loss());
  for (const OperatorKind kind : {OperatorKind::logit_cast, OperatorKind::cross_entropy})
    for (const auto& pass : {&Block::forward, &Block::backward})
      EXPECT_EQ(touched_bytes(whole.*pass, kind), kTensor * touched_bytes(apart.*pass, kind));
  const double kept = kLogits * (kElement + 4);  // as computed, and in fp32
  EXPECT_EQ(whole.saved_by_loss - apart.saved_by_loss, kept * (1 - 1.0 / kTensor));
}

TEST(LossParallel, LeftOutARanksOwnColumnsAreCopiedInAndOut) {
  const Block apart = head(shared_sequence()), whole = head(whole_loss());
  const auto copied = [&](Kernels Block::*pass) {
    return touched_bytes(whole.*pass, OperatorKind::logits) - touched_bytes(apart.*pass, OperatorKind::logits);
  };
  EXPECT_EQ(copied(&Block::forward), 2 * kLogits * kElement);
  EXPECT_EQ(copied(&Block::backward), 2 * kLogits * kElement / kTensor);
}

TEST(LossParallel, SaysNothingOfOneTensorRank) {
  Scenario s = shared_sequence();
  s.parallelism.tensor = 1;
  s.parallelism.sequence = false;
  s.parallelism.data = 4;
  const Block apart = head(s);
  s.software.loss_parallel = false;
  const Block whole = head(s);
  EXPECT_EQ(whole.saved_by_loss, apart.saved_by_loss);
  EXPECT_EQ(whole.forward.size(), apart.forward.size());
  EXPECT_EQ(whole.backward.size(), apart.backward.size());
}

TEST(LossParallel, IsNeededWhereTheLossMayStandOnAnotherStageThanTheLogits) {
  Scenario s = round_numbers(4);
  s.parallelism.tensor = s.parallelism.pipeline = 2;
  s.software.partition = Partition::cost;
  EXPECT_TRUE(check(s).empty());
  s.software.loss_parallel = false;
  ASSERT_EQ(check(s).size(), 1u);
  EXPECT_EQ(check(s).front().key, "software.loss_parallel");
}

}  // namespace
}  // namespace stepcast::schedules
