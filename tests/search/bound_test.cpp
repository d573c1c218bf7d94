#include "search/bound.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "schedules/checks/check.h"
#include "schedules/forecast.h"
#include "search/costs.h"
#include "tests/long.h"
#include "tests/sanitized.h"
#include "tests/schedules/scenarios.h"
#include "tests/search/random_spaces.h"

namespace stepcast::search {
namespace {

using schedules::Scenario;

/// Every plan of a space that the checks accept.
std::vector<Scenario> plans_of(const Space& space, workload::Machines& machines) {
  std::vector<Scenario> plans;
  for (const Settings& shared : shared_settings(space))
    each_plan(space, shared, [&](const Settings& settings) {
      Scenario plan = plan_of(space, settings, machines);
      if (schedules::check(plan).empty()) plans.push_back(std::move(plan));
    });
  return plans;
}

std::string words(const Scenario& s) {
  std::string out;
  for (const SearchAxis& axis : axes()) out += std::string(axis.key) + "=" + text(axis, axis.of(s)) + " ";
  for (const std::uint32_t layers : s.parallelism.layers_per_stage) out += std::to_string(layers) + " ";
  return out;
}

constexpr double kRounded = 1 + 1e-6;

TEST(StepBound, IsNoMoreThanTheStepOfPlansOfRandomSpaces) {
  const std::uint64_t spaces = stepcast::test::kSanitized ? 8 : stepcast::test::long_run() ? 500 : 100;
  std::size_t plans = 0;
  double kernels = 0, passes = 0, traffic = 0;
  std::vector<double> computed;  // of the share of kernels, what is known of it
  for (std::uint64_t seed = 1; seed <= spaces; ++seed) {
    workload::Machines machines;
    const std::vector<Scenario> all = plans_of(random_space(seed), machines);
    const std::size_t every = stepcast::test::long_run() ? 1 : 3;
    for (std::size_t i = seed % every; i < all.size(); i += every) {
      const Scenario& s = all[i];
      SCOPED_TRACE("seed " + std::to_string(seed) + ": " + words(s));
      const schedules::Plan plan = schedules::plan(s, machines);
      StepBound bound(machines.of(machine_of(s)));
      schedules::SharedParts parts;
      const Time of_kernels = StepBound::of_kernels(s, parts),
                 of_layers = StepBound::of_layers(s, *machines.of(machine_of(s)), parts);
      const LeastStep least = bound.of_passes(s, plan);
      const Time of_passes = least.time, with_traffic = bound.with_traffic(s, plan);
      EXPECT_LE(of_kernels, of_layers);
      EXPECT_LE(of_layers, of_passes);
      const schedules::Forecast forecast = schedules::forecast(s, machines, {.advise = false});
      const Time step = forecast.step;
      const double computing = computing_share(forecast);
      EXPECT_LE(of_kernels / step, computing * kRounded);
      EXPECT_LE(least.kernels / step, computing * kRounded);
      EXPECT_LE(of_passes, with_traffic);
      EXPECT_LE(bound.with_least_traffic(s, plan).value_or(Time{}), with_traffic);
      EXPECT_LE(with_traffic, step);
      if (of_passes == Time{}) continue;
      ++plans;
      kernels += of_kernels / step;
      if (least.kernels > Time{}) computed.push_back(least.kernels / step / computing);
      passes += of_passes / step;
      traffic += with_traffic / step;
    }
  }
  const double count = static_cast<double>(plans);
  EXPECT_GT(plans, 3 * spaces);
  if (!stepcast::test::kSanitized) {  // how tight the bounds are in the mean says nothing of 8 spaces
    EXPECT_GT(kernels / count, 0.3);
    EXPECT_GT(std::accumulate(computed.begin(), computed.end(), 0.0) / static_cast<double>(computed.size()), 0.99);
    EXPECT_GT(passes / count, 0.7);
    EXPECT_GT(traffic / count, passes / count + 0.02);
  }
  RecordProperty("mean_of_kernels", std::to_string(kernels / count));
  RecordProperty("mean_of_passes", std::to_string(passes / count));
  RecordProperty("mean_with_traffic", std::to_string(traffic / count));
}

/// Of more GPUs than stand alone: layouts whose groups stand in nodes alike, unlike, and across them.
TEST(StepBound, OfLayersIsNoMoreThanThatOfPassesOn192Gpus) {
  Scenario s = schedules::round_numbers(192);
  s.model.layers = 12;
  s.training.global_batch = 192;
  Space space = usual_space(s);
  const auto of = [&](const char* key) -> std::vector<std::int64_t>& { return space.values[axis_named("", key)]; };
  of("parallelism.tensor") = {1, 4, 6, 12, 16};
  of("parallelism.context") = {1, 2};
  of("parallelism.pipeline") = {1, 2, 3, 4};
  of("training.micro_batch") = {1, 4};
  of("pipeline.virtual_stages") = {1, 3};
  for (const char* key : {"recompute", "data_parallel.zero"}) of(key).resize(1);
  workload::Machines machines;
  std::size_t plans = 0, told_more = 0;
  for (const Scenario& plan : plans_of(space, machines)) {
    SCOPED_TRACE(words(plan));
    const auto machine = machines.of(machine_of(plan));
    schedules::SharedParts parts;
    const Time of_kernels = StepBound::of_kernels(plan, parts), of_layers = StepBound::of_layers(plan, *machine, parts);
    EXPECT_LE(of_kernels, of_layers);
    StepBound bound(machine);
    const schedules::Plan made = schedules::plan(plan, machines);
    EXPECT_LE(of_layers, bound.of_passes(plan, made).time);
    const std::optional<Time> least = bound.with_least_traffic(plan, made);
    ASSERT_TRUE(least);
    EXPECT_LE(*least, bound.with_traffic(plan, made));
    ++plans;
    told_more += of_layers > of_kernels;
  }
  EXPECT_GT(plans, 20u);
  EXPECT_GT(told_more, plans / 2);
}

/// The bounds of plans of 32 GPUs on one, two and four stages tell more than `part` of their steps, and no more than
/// all.
void expect_bounds_above(double part, Scenario s) {
  for (const std::uint32_t stages : {1u, 2u, 4u}) {
    s.parallelism.pipeline = stages;
    s.parallelism.tensor = 2;
    s.parallelism.data = 16 / stages;
    ASSERT_TRUE(schedules::check(s).empty());
    workload::Machines machines;
    StepBound bound(machines.of(machine_of(s)));
    const schedules::Plan plan = schedules::plan(s, machines);
    const schedules::Forecast forecast = schedules::forecast(s, machines, {.advise = false});
    EXPECT_LE(bound.of_passes(s, plan).kernels / forecast.step, computing_share(forecast) * kRounded) << stages;
    const double told = bound.with_traffic(s, plan) / forecast.step;
    EXPECT_LE(told, 1) << stages;
    EXPECT_GT(told, part) << stages;
  }
}

/// What keeps a cluster from its best makes steps longer, not bounds loose.
TEST(StepBound, HoldsWhereAGpuOrANodesNetworkIsSlow) {
  Scenario s = schedules::round_numbers(32);
  s.training.global_batch = 256;
  s.imperfections.slow_gpu = 3;
  s.imperfections.gpu_speed = 0.9;
  s.imperfections.slow_node = 1;
  s.imperfections.network_speed = 0.5;
  expect_bounds_above(0.7, s);
}

/// Replicas on the slower of two kinds of GPUs keep all others waiting, and traffic takes time on either.
TEST(StepBound, SeesTheSlowerOfTwoKindsOfGpusAndTheirTraffic) {
  Scenario s = schedules::round_numbers(32);
  s.training.global_batch = 256;
  s.cluster.other = schedules::OtherGpus{s.cluster.gpu, 16};
  for (auto& [precision, rate] : s.cluster.other->gpu.peak) rate = rate * 3;
  s.cluster.other->gpu.memory_bandwidth = s.cluster.gpu.memory_bandwidth * 3;
  expect_bounds_above(0.85, s);
}

/// With ZeRO 3 on one stage parameters come beside kernels all the time: what kernels lose to that is most of what the
/// step does.
TEST(StepBound, SeesWhatGatheringParametersTakesFromTheKernelsBesideIt) {
  Scenario s = schedules::round_numbers(8);
  s.parallelism.tensor = 1;
  s.parallelism.data = 8;
  s.training.global_batch = 64;
  s.training.micro_batch = 1;
  s.data_parallel.zero = 3;
  ASSERT_TRUE(schedules::check(s).empty());
  workload::Machines machines;
  const auto told = [&](double slowdown) {
    s.software.overlap_slowdown = slowdown;
    StepBound bound(machines.of(machine_of(s)));
    return std::pair(bound.with_traffic(s, schedules::plan(s, machines)),
                     schedules::forecast(s, machines, {.advise = false}).step);
  };
  const auto [without, step_without] = told(0);
  const auto [with, step_with] = told(0.2);
  EXPECT_LE(with, step_with);
  EXPECT_GT(step_with, step_without);
  EXPECT_GT((with - without) / (step_with - step_without), 0.8);
}

/// Nodes of 8 GPUs behind one slow adapter, which all of a node's groups share: what crosses it is most of the step.
TEST(StepBound, SeesWhatCrossesASlowNetwork) {
  Scenario s = schedules::round_numbers(32);
  s.cluster.node.nics = 1;
  s.cluster.node.nic->bandwidth = {3e9};
  s.software.attention = schedules::Attention::flash;  // which context ranks need
  s.model.layers = 8;
  Space space = usual_space(s);
  const auto of = [&](const char* key) -> std::vector<std::int64_t>& { return space.values[axis_named("", key)]; };
  of("parallelism.tensor") = {1, 4, 16};
  of("parallelism.context") = {1, 2, 8};
  of("parallelism.pipeline") = {1, 2};
  of("training.micro_batch") = {2};
  for (const char* key : {"recompute", "parallelism.sequence", "pipeline.schedule", "pipeline.virtual_stages",
                          "parallelism.layers_per_stage", "data_parallel.zero"})
    of(key).resize(1);
  workload::Machines machines;
  double all = 0, least = 1;
  const std::vector<Scenario> plans = plans_of(space, machines);
  for (const Scenario& plan : plans) {
    SCOPED_TRACE(words(plan));
    StepBound bound(machines.of(machine_of(plan)));
    const Time step = schedules::forecast(plan, machines, {.advise = false}).step;
    const double told = bound.with_traffic(plan, schedules::plan(plan, machines)) / step;
    EXPECT_LE(told, 1);
    all += told;
    least = std::min(least, told);
  }
  ASSERT_GT(plans.size(), 5u);
  EXPECT_GT(all / static_cast<double>(plans.size()), 0.75);
  EXPECT_GT(least, 0.4);
}

}  // namespace
}  // namespace stepcast::search
