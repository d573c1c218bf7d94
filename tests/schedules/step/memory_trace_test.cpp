#include "schedules/step/memory_trace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <string>

#include "schedules/checks/check.h"
#include "schedules/forecast.h"
#include "schedules/pipeline/pipelines.h"
#include "tests/schedules/scenarios.h"

namespace stepcast::schedules {
namespace {

std::vector<MemoryPoint> of_stage(const Forecast& f, std::uint32_t stage) {
  std::vector<MemoryPoint> points;
  std::ranges::copy_if(f.memory, std::back_inserter(points), [&](const MemoryPoint& p) { return p.stage == stage; });
  return points;
}

void expect_peak(const Forecast& f, bool drains, std::string_view what) {
  for (const StageReport& stage : f.stages) {
    const std::vector<MemoryPoint> points = of_stage(f, stage.stage);
    ASSERT_GE(points.size(), 2u) << what;
    Bytes most{};
    for (const MemoryPoint& point : points) {
      most = std::max(most, point.activations);
      EXPECT_EQ(point.state, stage.memory.peak() - stage.memory.activations) << what;
    }
    EXPECT_EQ(most, stage.memory.activations) << what << " " << stage.stage;
    EXPECT_TRUE(std::ranges::is_sorted(points, std::ranges::less{}, &MemoryPoint::at)) << what;
    EXPECT_EQ(points.front().at, Time{});
    EXPECT_EQ(points.back().at, f.step);
    if (!drains) continue;
    EXPECT_EQ(points.front().activations, Bytes{}) << what;
    EXPECT_EQ(points.back().activations, Bytes{}) << what;
  }
}

TEST(MemoryTrace, ReachesTheReportedPeakUnderEverySchedule) {
  for (const PipelineSchedule* schedule : pipelines()) {
    Scenario s = round_numbers(8);
    s.parallelism = {.pipeline = 4, .data = 2};
    s.pipeline.schedule = schedule->name;
    if (schedule->name == "interleaved-1f1b" || schedule->name == "combined-1f1b") s.pipeline.virtual_stages = 2;
    ASSERT_TRUE(check(s).empty()) << schedule->name;
    expect_peak(forecast(s, {.unfold = false, .trace = true}), schedule->updates == Updates::after_flush,
                schedule->name);
  }
}

TEST(MemoryTrace, ReachesItWithShardsBucketsRecomputationAndOffload) {
  for (const int zero : {0, 2, 3})
    for (const Recompute recompute : {Recompute::none, Recompute::full})
      for (const Tier activations : {Tier::gpu, Tier::host}) {
        Scenario s = round_numbers(8);
        s.parallelism = {.data = 8};
        s.data_parallel.zero = zero;
        s.data_parallel.overlap = true;
        s.recompute = recompute;
        s.offload.activations = activations;
        expect_peak(forecast(s, {.unfold = false, .trace = true}), true, std::to_string(zero));
      }
}

TEST(MemoryTrace, HoldsAMicroBatchFromItsForwardToItsBackward) {
  // One stage, two micro-batches: up, down, up, down; four passes that each end where the next begins.
  Scenario s = round_numbers(1);
  s.training.global_batch = 2;
  const Forecast f = forecast(s, {.unfold = false, .trace = true});
  const Bytes peak = f.stages[0].memory.activations;
  std::vector<Bytes> levels;
  for (const MemoryPoint& point : f.memory) levels.push_back(point.activations);
  EXPECT_EQ(levels, (std::vector<Bytes>{{}, peak, peak, peak, peak, {}, {}}));
  EXPECT_EQ(f.memory[5].at, f.passes[3].start + f.passes[3].duration);
}

TEST(MemoryTrace, OfGPipeHasAllForwardsAtOnce) {
  Scenario s = round_numbers(2);
  s.parallelism = {.pipeline = 2};
  s.training.global_batch = 8;
  s.pipeline.schedule = "gpipe";
  const Forecast f = forecast(s, {.unfold = false, .trace = true});
  const auto points = of_stage(f, 1);
  const auto top = std::ranges::max_element(points, {}, &MemoryPoint::activations);
  const auto first_backward = std::ranges::find_if(
      f.passes, [](const PassSpan& p) { return p.stage == 1 && p.pass && p.pass->kind == PassKind::backward; });
  EXPECT_LE(top->at, first_backward->start);
  EXPECT_EQ(top->activations, f.stages[1].memory.activations);
}

}  // namespace
}  // namespace stepcast::schedules
