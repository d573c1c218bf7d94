#include "schedules/plan/shared_parts.h"

#include <gtest/gtest.h>

#include "schedules/checks/check.h"
#include "schedules/plan/plan.h"
#include "tests/schedules/scenarios.h"

namespace stepcast::schedules {
namespace {

/// Plans that differ in schedule, cut and data-parallel state alone.
std::vector<Scenario> like(const Scenario& start) {
  std::vector<Scenario> all;
  for (const char* schedule : {"1f1b", "interleaved-1f1b", "gpipe"})
    for (const std::uint32_t virtual_stages : {1u, 2u})
      for (const int zero : {0, 1, 3})
        for (const bool uneven : {false, true}) {
          Scenario s = start;
          s.pipeline.schedule = schedule;
          s.pipeline.virtual_stages = virtual_stages;
          s.data_parallel.zero = zero;
          if (uneven && virtual_stages == 1) s.parallelism.layers_per_stage = {5, 4, 4, 3};
          if (check(s).empty()) all.push_back(s);
        }
  return all;
}

void expect_same(const Plan& a, const Plan& b) {
  ASSERT_EQ(a.memory.size(), b.memory.size());
  for (std::size_t stage = 0; stage < a.memory.size(); ++stage) {
    EXPECT_EQ(a.memory[stage].peak(), b.memory[stage].peak());
    EXPECT_EQ(a.memory[stage].activations, b.memory[stage].activations);
    EXPECT_EQ(a.staged.pipeline->orders[stage].size(), b.staged.pipeline->orders[stage].size());
    ASSERT_EQ(a.staged.chunks[stage].size(), b.staged.chunks[stage].size());
    for (std::size_t v = 0; v < a.staged.chunks[stage].size(); ++v)
      EXPECT_EQ(a.staged.chunks[stage][v].count, b.staged.chunks[stage][v].count);
  }
  ASSERT_EQ(a.staged.models.size(), b.staged.models.size());
  EXPECT_EQ(a.staged.models.front()->order, b.staged.models.front()->order);
  for (std::size_t kind = 0; kind < a.staged.models.front()->kinds.size(); ++kind)
    EXPECT_EQ(a.staged.models.front()->kinds[kind].forward.size(), b.staged.models.front()->kinds[kind].forward.size());
}

TEST(SharedParts, PlansMadeWithThemAreThoseMadeWithout) {
  workload::Machines machines;
  Scenario plain = round_numbers(32);
  plain.parallelism = {.tensor = 2, .pipeline = 4, .data = 4};
  Scenario low = plain, repeated = plain;
  low.training.precision = Precision::fp8;
  low.cluster.gpu.peak[Precision::fp8] = {600e12};
  repeated.recompute = Recompute::full;
  repeated.recompute_group = 2;
  for (const Scenario& start : {plain, low, repeated}) {
    SharedParts shared;
    const std::vector<Scenario> all = like(start);
    EXPECT_GT(all.size(), 8u);
    for (const Scenario& s : all) expect_same(plan(s, machines, &shared), plan(s, machines));
  }
}

TEST(SharedParts, ThePipelineAndTheModelAreMadeOnce) {
  Scenario s = round_numbers(32);
  s.parallelism = {.tensor = 2, .pipeline = 4, .data = 4};
  SharedParts shared;
  const StagedModel first = staged_model(s, {}, &shared);
  s.data_parallel.zero = 1;
  const StagedModel other_state = staged_model(s, {}, &shared);
  EXPECT_EQ(first.pipeline, other_state.pipeline);
  EXPECT_EQ(first.models.front(), other_state.models.front());
  s.pipeline.schedule = "gpipe";
  EXPECT_NE(first.pipeline, staged_model(s, {}, &shared).pipeline);
}

}  // namespace
}  // namespace stepcast::schedules
