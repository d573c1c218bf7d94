#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "models/layers/blocks.h"
#include "models/layers/model_blocks.h"
#include "schedules/forecast.h"
#include "tests/schedules/scenarios.h"

namespace stepcast::schedules {
namespace {

Scenario of_eight(bool sequence, bool pipelining) {
  Scenario s = round_numbers(8);
  s.model = {"gpt", Family::gpt, 4, 8192, 64, 64, 32768, 51200, ""};
  s.training.micro_batch = s.training.global_batch = 4;
  s.parallelism.tensor = 8;
  s.parallelism.sequence = sequence;
  s.software.tensor_overlap = pipelining ? TensorOverlap::all : TensorOverlap::backward;
  return s;
}

/// Parts of the collectives of a layer's pass that go in parts.
std::map<collectives::Operation, int> parts(const Scenario& s, Kernels Block::*pass) {
  std::map<collectives::Operation, int> found;
  const Blocks all = blocks(s);
  for (const Kernel& op : (*std::ranges::find_if(all.kinds, &Block::layer)).*pass)
    if (const auto* c = std::get_if<TensorCollective>(&op); c != nullptr && c->parts > 1)
      found[c->operation] = c->parts;
  return found;
}

// Transformer Engine, pytorch/module/base.py: rings gather before qkv, fc1, and in backward before proj and fc2; proj's
// and fc2's outputs are scattered in 4 splits; the gradients of qkv and fc1 run in bulk beside whole multiplies.
TEST(TensorOverlap, GoesInPartsWhereTransformerEngineDoes) {
  using collectives::Operation;
  using Parts = std::map<Operation, int>;
  EXPECT_EQ(parts(of_eight(true, true), &Block::forward),
            (Parts{{Operation::all_gather, 8}, {Operation::reduce_scatter, 4}}));
  EXPECT_EQ(parts(of_eight(true, true), &Block::backward), (Parts{{Operation::all_gather, 8}}));
  EXPECT_EQ(parts(of_eight(true, false), &Block::forward), Parts{});
  EXPECT_EQ(parts(of_eight(false, true), &Block::forward), Parts{});  // all-reduces are not split
}

TEST(TensorOverlap, HidesTrafficOfLargeMultipliesAndChangesNothingWithoutSequenceParallelism) {
  const Forecast whole = forecast(of_eight(true, false)), in_parts = forecast(of_eight(true, true));
  EXPECT_LT(in_parts.stages[0].time.exposed_tensor.value, whole.stages[0].time.exposed_tensor.value / 2);
  EXPECT_LT(in_parts.step, whole.step);
  EXPECT_EQ(forecast(of_eight(false, true)).step, forecast(of_eight(false, false)).step);
}

}  // namespace
}  // namespace stepcast::schedules
