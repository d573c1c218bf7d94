// Steps of which only a part is simulated: what is told of them is what the whole simulation tells. A traced step is
// simulated whole.

#include "schedules/step/run_step.h"

#include <gtest/gtest.h>

#include <random>

#include "schedules/checks/check.h"
#include "schedules/forecast.h"
#include "schedules/plan/staged_model.h"
#include "schedules/results/time_parts.h"
#include "tests/long.h"
#include "tests/sanitized.h"
#include "tests/schedules/scenarios.h"
#include "topology/cluster.h"

namespace stepcast::schedules {
namespace {

void expect_same(const Forecast& a, const Forecast& whole, const std::string& what) {
  EXPECT_EQ(a.step, whole.step) << what;
  for (std::size_t i = 0; i < whole.stages.size(); ++i) {
    for (const TimePart& part : kTimeParts)
      EXPECT_EQ(a.stages[i].time.*part.time, whole.stages[i].time.*part.time) << what << ", stage " << i;
    EXPECT_EQ(a.stages[i].memory.peak(), whole.stages[i].memory.peak()) << what << ", stage " << i;
    EXPECT_EQ(a.stages[i].in_flight, whole.stages[i].in_flight) << what << ", stage " << i;
  }
  ASSERT_EQ(a.busiest_link.has_value(), whole.busiest_link.has_value()) << what;
  if (!a.busiest_link) return;
  EXPECT_EQ(a.busiest_link->name, whole.busiest_link->name) << what;
  EXPECT_EQ(a.busiest_link->utilisation, whole.busiest_link->utilisation) << what;
}

void expect_as_whole(const Scenario& s, const std::string& what) {
  ASSERT_TRUE(check(s).empty()) << what << ": " << check(s).front().text;
  expect_same(forecast(s, {.advise = false}), forecast(s, {.trace = true, .advise = false}), what);
}

/// Any plan of 32 GPUs with many micro-batches.
std::optional<Scenario> any_plan(std::mt19937& random) {
  const auto pick = [&](std::initializer_list<std::uint32_t> choices) {
    return *(choices.begin() + static_cast<std::ptrdiff_t>(random() % choices.size()));
  };
  Scenario s = round_numbers(32);
  s.cluster.node.nics = pick({1, 2, 8});  // stages' traffic meets, or not
  s.model.layers = 48;
  s.parallelism.pipeline = pick({1, 2, 4, 8});
  s.parallelism.tensor = pick({1, 2});
  s.parallelism.data = 32 / s.parallelism.pipeline / s.parallelism.tensor;
  s.training.global_batch = s.parallelism.data * pick({24, 64, 96, 131});
  s.pipeline.schedule =
      std::array{"1f1b", "interleaved-1f1b", "zb-h1", "zb-h2", "combined-1f1b", "gpipe"}[random() % 6];
  s.pipeline.virtual_stages =
      s.pipeline.schedule == "interleaved-1f1b" || s.pipeline.schedule == "combined-1f1b" ? 3 : 1;
  s.data_parallel.zero = static_cast<int>(pick({0, 1, 2, 3}));
  s.data_parallel.overlap = pick({0, 1}) == 1;
  s.software.pipeline_overlap = pick({0, 1}) == 1 ? PipelineOverlap::yes : PipelineOverlap::no;
  s.software.overlap_slowdown = pick({0, 1}) == 1 ? 0.1 : 0;
  s.software.parameter_prefetch = {pick({0, 1}) == 1 ? 1LL << 24 : 0};
  s.software.gather_for_recompute = pick({0, 1}) == 1;
  s.software.copies_gathered = s.software.block_gradients = pick({0, 1}) == 1;
  s.recompute = pick({0, 1}) == 1 ? Recompute::full : Recompute::none;
  if (pick({0, 1}) == 1) s.parallelism.layers_per_stage = {};
  // Never late, late after each wait, as fast as some stages' kernels, slower than all.
  s.software.host_per_kernel = microseconds(pick({0, 0, 3, 12, 30, 90}));
  s.software.host_per_pass = microseconds(pick({0, 200}));
  s.software.pipeline_sync = pick({0, 1}) == 1;
  if (!check(s).empty()) return std::nullopt;
  return s;
}

std::string in_words(const Scenario& s) {
  return s.pipeline.schedule + " t" + std::to_string(s.parallelism.tensor) + " p" +
         std::to_string(s.parallelism.pipeline) + " zero " + std::to_string(s.data_parallel.zero) + " batch " +
         std::to_string(s.training.global_batch) + " nics " + std::to_string(s.cluster.node.nics);
}

TEST(RunStep, OfManyMicroBatchesIsTheWholeStepToThePicosecond) {
  std::mt19937 random(7);
  const int plans = test::kSanitized ? 6 : test::long_run() ? 60 : 30;
  int ran = 0;
  while (ran < plans) {
    const std::optional<Scenario> s = any_plan(random);
    if (!s) continue;
    expect_as_whole(*s, in_words(*s));
    ++ran;
  }
}

TEST(RunStep, WithALaneForEveryRankIsTheWholeStepToThePicosecond) {
  std::mt19937 random(11);
  workload::Machines machines;
  int ran = 0;
  while (ran < (test::kSanitized ? 2 : 8)) {
    const std::optional<Scenario> s = any_plan(random);
    if (!s) continue;
    expect_same(forecast(*s, machines, {.unfold = true, .advise = false}),
                forecast(*s, machines, {.unfold = true, .trace = true, .advise = false}), in_words(*s));
    ++ran;
  }
}

TEST(RunStep, WithASlowNodeOrASlowGpuIsTheWholeStepToThePicosecond) {
  std::mt19937 random(13);
  int ran = 0;
  while (ran < (test::kSanitized ? 2 : 9)) {
    std::optional<Scenario> s = any_plan(random);
    if (!s) continue;
    if (ran % 3 != 0) s->imperfections = {.slow_node = 1, .network_speed = 0.5};
    if (ran % 3 != 1) {
      s->imperfections.slow_gpu = 3;
      s->imperfections.gpu_speed = 0.8;
    }
    expect_as_whole(*s, in_words(*s) + " imperfect " + std::to_string(ran));
    ++ran;
  }
}

/// What run_step says of a scenario, and how many micro-batches it simulated.
std::uint32_t simulated_micro_batches(const Scenario& s, bool unfold = false) {
  const workload::Machine machine(
      {s.cluster.node, s.cluster.fabric, s.cluster.gpus, s.cluster.allocation, s.software.transport, true});
  const Ranks ranks(s.parallelism, machine.cluster().gpus_per_node());
  const StagedModel staged = staged_model(s);
  PieceTimes pieces(s, *staged.models.front(), ranks, machine.timer(), !unfold, staged.pipeline->shape.splits_backward);
  StepInput input{s, machine, ranks, *staged.models.front(), staged.pipeline.get(), staged.chunks, pieces};
  input.unfold = unfold;
  return run_step(input).shape.micro_batches;
}

TEST(RunStep, SimulatesAsFewMicroBatchesHoweverManyThereAre) {
  Scenario s = round_numbers(32);
  s.parallelism = {.tensor = 2, .pipeline = 4, .data = 4};
  for (const int zero : {0, 2}) {
    s.data_parallel.zero = zero;
    for (const char* schedule : {"1f1b", "interleaved-1f1b"}) {
      if (zero == 2 && std::string_view(schedule) != "1f1b") continue;
      s.pipeline.schedule = schedule;
      s.pipeline.virtual_stages = std::string_view(schedule) == "interleaved-1f1b" ? 2 : 1;
      s.training.global_batch = 4 * 128;
      const std::uint32_t of_128 = simulated_micro_batches(s);
      s.training.global_batch = 4 * 1024;
      EXPECT_LE(of_128, 16u) << schedule;  // two periods, and what fills the pipeline and drains it
      EXPECT_EQ(simulated_micro_batches(s), of_128) << schedule;
      EXPECT_EQ(simulated_micro_batches(s, true), of_128) << schedule << ", a lane for every rank";
    }
  }
}

// The host is not ahead of the first passes: these are other tasks than those that repeat.
TEST(RunStep, OfOneStageThatGathersParametersSimulatesFewMicroBatches) {
  Scenario s = round_numbers(32);
  s.parallelism = {.tensor = 2, .data = 16};
  s.pipeline.schedule = "1f1b";
  s.software.host_per_kernel = microseconds(3);
  s.data_parallel.zero = 3;
  s.training.global_batch = 16 * 1024;
  EXPECT_LE(simulated_micro_batches(s), 8u);
  s.training.global_batch = 16 * 64;
  expect_as_whole(s, "one stage");
}

// Passes of all virtual stages come again and again right behind each other: they are written down at once.
TEST(RunStep, OfOneStageWithSeveralVirtualStagesIsTheWholeStepToThePicosecond) {
  Scenario s = round_numbers(32);
  s.model.layers = 48;
  s.parallelism = {.tensor = 2, .data = 16};
  s.pipeline.schedule = "interleaved-1f1b";
  s.software.host_per_kernel = microseconds(3);
  s.software.host_per_pass = microseconds(200);
  for (const std::uint32_t virtual_stages : {2u, 4u})
    for (const std::int64_t micro_batches : {1, 2, 64}) {
      s.pipeline.virtual_stages = virtual_stages;
      s.training.global_batch = 16 * micro_batches;
      expect_as_whole(
          s, std::to_string(virtual_stages) + " virtual stages, " + std::to_string(micro_batches) + " micro-batches");
    }
}

// Both tensor ranks' messages cross one adapter, and which of the two stages' traffic is first there changes with every
// micro-batch: one period never takes as long as the one before, two together do.
TEST(RunStep, OfTrafficThatTakesTurnsRepeatsTwoPeriodsAtOnce) {
  Scenario s = round_numbers(32);
  s.cluster.node.nics = 1;
  s.parallelism = {.tensor = 2, .pipeline = 2, .data = 8};
  s.pipeline.schedule = "1f1b";
  s.software.pipeline_overlap = PipelineOverlap::yes;
  s.training.global_batch = 8 * 1024;
  EXPECT_LE(simulated_micro_batches(s), 32u);
  for (const std::int64_t micro_batches : {64, 65}) {  // an even number is left out, or one more is simulated
    s.training.global_batch = 8 * micro_batches;
    expect_as_whole(s, std::to_string(micro_batches) + " micro-batches");
  }
}

TEST(RunStep, SimulatesAllWhereTheyAreFew) {
  Scenario s = round_numbers(32);
  s.parallelism = {.tensor = 2, .pipeline = 4, .data = 4};
  s.pipeline.schedule = "1f1b";
  s.training.global_batch = 4 * 12;
  EXPECT_EQ(simulated_micro_batches(s), 12u);
}

}  // namespace
}  // namespace stepcast::schedules
