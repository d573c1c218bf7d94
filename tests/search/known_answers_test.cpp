// Where the best plan is known without a search: what each kind of parallelism is good for.

#include <gtest/gtest.h>

#include "search/search.h"
#include "tests/schedules/scenarios.h"

namespace stepcast::search {
namespace {

using namespace schedules;

/// With the values of some axes, and the scenario's of all others.
Space only(const Scenario& s, std::vector<std::pair<std::string, std::vector<std::int64_t>>> values) {
  Space space = usual_space(s);
  for (std::size_t axis = 0; axis < kAxes; ++axis) space.values[axis] = {axes()[axis].of(s)};
  for (auto& [key, tried] : values) space.values[axis_named("", key)] = std::move(tried);
  return space;
}

FoundPlan best_of(const Space& space) {
  workload::Machines machines;
  SearchOptions options;
  options.top = 1;
  SearchAnswer answer = search(space, options, machines);
  return std::move(answer.best.at(0));
}

std::int64_t schedule_named(const std::string& name) {
  return read_value(axes()[axis_named("", "pipeline.schedule")], "", name);
}

TEST(KnownAnswers, InterleavingHelpsMoreWithFewMicroBatches) {
  const auto gain = [](std::int64_t batch) {
    Scenario s = round_numbers(4);
    s.training.global_batch = batch;
    const auto step = [&](const char* schedule, std::int64_t virtual_stages) {
      return to_seconds(best_of(only(s, {{"parallelism.pipeline", {4}},
                                         {"pipeline.schedule", {schedule_named(schedule)}},
                                         {"pipeline.virtual_stages", {virtual_stages}}}))
                            .forecast.step);
    };
    return step("1f1b", 1) / step("interleaved-1f1b", 4);
  };
  EXPECT_GT(gain(4), gain(16));
  EXPECT_GT(gain(16), gain(64));
  EXPECT_GT(gain(4), 1.2);
}

TEST(KnownAnswers, TensorParallelismStaysInsideNvlink) {
  Scenario s = round_numbers(32);      // 4 nodes of 8
  s.cluster.gpu.memory = {4LL << 30};  // one replica needs several GPUs
  s.training.global_batch = 32;
  Space space = usual_space(s);
  space.values[axis_named("", "parallelism.context")] = {1};
  EXPECT_LE(best_of(space).scenario.parallelism.tensor, 8u);
  // With nothing but tensor parallelism to share the model, more than a node of it loses.
  const Space tensor_alone =
      only(s, {{"parallelism.tensor", {8, 16}}, {"recompute", {2}}, {"data_parallel.zero", {3}}});
  EXPECT_EQ(best_of(tensor_alone).scenario.parallelism.tensor, 8u);
}

TEST(KnownAnswers, ASlowerNetworkMovesTheOptimumAwayFromTensor) {
  Scenario s = round_numbers(8);
  s.training.global_batch = 8;
  const auto tensor = [&](double bytes_a_second) {
    s.cluster.node.nvlink->bandwidth = {bytes_a_second};
    return best_of(only(s, {{"parallelism.tensor", {1, 2, 4, 8}}, {"parallelism.pipeline", {1, 2, 4, 8}}}))
        .scenario.parallelism.tensor;
  };
  s.cluster.gpu.memory = {6LL << 30};  // a replica needs several GPUs: tensor or pipeline ranks
  EXPECT_GT(tensor(60e9), tensor(1e9));
}

TEST(KnownAnswers, RecomputationAppearsOnlyWhenMemoryAsks) {
  Scenario s = round_numbers(8);
  const auto recompute = [&](std::int64_t gibibytes) {
    s.cluster.gpu.memory = {gibibytes << 30};
    return best_of(only(s, {{"recompute", {0, 1, 2}}, {"training.micro_batch", {4}}, {"data_parallel.zero", {3}}}))
        .scenario.recompute;
  };
  EXPECT_EQ(recompute(1024), Recompute::none);
  EXPECT_NE(recompute(9), Recompute::none);
}

TEST(KnownAnswers, TheFewestGpusAreThoseThatHoldTheModel) {
  Scenario s = round_numbers(32);
  s.cluster.gpu.memory = {12LL << 30};
  Space space = only(s, {{"parallelism.tensor", {1, 2, 4, 8}}, {"recompute", {2}}, {"data_parallel.zero", {3}}});
  space.values[axis_named("", "cluster.gpus")] = smaller_clusters(s);
  SearchOptions options;
  options.objective = Objective::gpus;
  options.top = 1;
  workload::Machines machines;
  const SearchAnswer answer = search(space, options, machines);
  ASSERT_FALSE(answer.best.empty());
  const std::uint32_t fewest = answer.best.front().scenario.cluster.gpus;
  EXPECT_GT(fewest, 1u);
  EXPECT_LT(fewest, 32u);
  std::erase_if(space.values[axis_named("", "cluster.gpus")],
                [&](std::int64_t gpus) { return gpus >= std::int64_t{fewest}; });
  EXPECT_TRUE(search(space, options, machines).best.empty());
}

}  // namespace
}  // namespace stepcast::search
