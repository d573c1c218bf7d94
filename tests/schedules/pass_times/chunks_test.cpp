// Pass times by place: which ranks are timed, and on whose links.

#include "schedules/pass_times/chunks.h"

#include <gtest/gtest.h>

#include "models/layers/model_blocks.h"
#include "tests/schedules/scenarios.h"
#include "tests/schedules/timed_alone.h"

namespace stepcast::schedules {
namespace {

TEST(PieceTimes, OfRanksInLikePlacesAreTimedForTheFirst) {
  Scenario s = round_numbers(24);
  s.parallelism = {.tensor = 4, .pipeline = 3, .data = 2};
  const Alone alone(s);
  const Blocks model = blocks(s);
  PieceTimes pieces(s, model, alone.ranks, alone.timer, true, false);
  EXPECT_EQ(pieces.timed_for({}), nullptr) << "nobody has asked";
  const auto& first = pieces.at({});
  EXPECT_EQ(pieces.timed_for({}), &first);
  EXPECT_EQ(&pieces.at({.stage = 1}), &first) << "as far into its node";
  EXPECT_EQ(pieces.timed_for({.stage = 1}), nullptr);
  EXPECT_NE(&pieces.at({.data = 1}), &first);
  EXPECT_EQ(pieces.timed_for({.data = 1}), &pieces.at({.data = 1}));
}

// Ranks in depth sum gradients of weights, where backward is split in the pass that makes these.
TEST(PieceTimes, ASplitBackwardHasAsMuchTrafficAsAWholeOne) {
  Scenario s = round_numbers(8);
  s.training.micro_batch = 2;
  s.parallelism = {.tensor = 4, .pipeline = 2, .data = 1};
  s.parallelism.tensor_grid = TensorGrid{.rows = 1, .columns = 2, .depth = 2};
  const Alone alone(s);
  const Blocks model = blocks(s);
  PieceTimes whole(s, model, alone.ranks, alone.timer, true, false),
      split(s, model, alone.ranks, alone.timer, true, true);
  const auto& one = whole.at({});
  const auto& two = split.at({});
  for (std::size_t kind = 0; kind < one.size(); ++kind) EXPECT_EQ(one[kind].traffic.size(), two[kind].traffic.size());
}

// Of workers of parameter servers that wait for nobody none waits for another's GPU either.
TEST(PieceTimes, MultipliesWaitForTheGpusThatAStepWaitsFor) {
  Scenario s = round_numbers(16);
  s.cluster.gpu.spread = 0.01;
  s.parallelism = {.tensor = 2, .pipeline = 1, .data = 8};
  const Alone alone(s);
  const Block block = blocks(s).kinds.front();
  EXPECT_EQ(cost_of(s, alone.ranks, block).slowest, slowest_of(s.cluster.gpu, 16));
  s.data_parallel.consistency = Consistency::asynchronous;
  EXPECT_EQ(cost_of(s, alone.ranks, block).slowest, slowest_of(s.cluster.gpu, 2));
}

}  // namespace
}  // namespace stepcast::schedules
