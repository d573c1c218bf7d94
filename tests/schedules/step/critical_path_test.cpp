#include "schedules/step/critical_path.h"

#include <gtest/gtest.h>

#include <vector>

#include "schedules/forecast.h"
#include "tests/schedules/scenarios.h"

namespace stepcast::schedules {
namespace {

NetworkLayer pass_of(double bytes) {
  NetworkLayer layer;
  layer.kind = LayerKind::elementwise;
  layer.bytes = bytes;
  layer.parameters = 0;
  layer.backward.emplace({layer});
  return layer;
}

Scenario stages_alike(std::uint32_t stages, std::int64_t batch) {
  Scenario s = round_numbers(stages);
  s.model = {};
  s.model.family = Family::operators;
  s.model.network.layers.assign(stages, pass_of(4e9));
  s.model.layers = stages;
  s.training = {.global_batch = batch, .micro_batch = 1, .sequence = 1, .precision = Precision::fp16};
  s.training.optimizer = Optimizer::none;
  s.parallelism.pipeline = stages;
  return s;
}

TEST(CriticalPath, OfAPipelineIsItsFillItsSlowestStageAndItsSends) {
  const Time pass = forecast(stages_alike(1, 1)).step;  // one micro-batch's forward and backward
  for (const std::uint32_t stages : {2u, 4u, 8u}) {
    const Scenario s = stages_alike(stages, 12);
    const Forecast found = forecast(s, {.critical_path = true});
    const TimeSplit& path = *found.critical_path;
    EXPECT_EQ(path.compute, pass * (12 + stages - 1)) << stages;
    EXPECT_EQ(path.exposed_pipeline, found.step - path.compute) << stages;
    EXPECT_GT(path.exposed_pipeline, Time{});
    EXPECT_GT(found.stages[0].time.bubble, Time{});
    EXPECT_EQ(path.bubble + path.idle, Time{});
    EXPECT_EQ(found.step, forecast(s).step);
  }
}

TEST(CriticalPath, IsNotToldUnlessAskedForNorOfPipelinesThatNeverDrain) {
  Scenario s = stages_alike(4, 12);
  EXPECT_FALSE(forecast(s).critical_path);
  s.pipeline.schedule = "pipedream";
  EXPECT_FALSE(forecast(s, {.critical_path = true}).critical_path);
}

/// A step of one rank, task by task.
struct ByHand {
  Step step;
  sim::StreamId stream = step.program.add_stream();
  Lane& lane = step.lanes.emplace_back();

  sim::TaskId add(Activity activity, std::int64_t picoseconds) {
    const sim::TaskId task = step.program.kernels(stream, {picoseconds});
    lane.tasks.push_back({task, task, activity, 0, 0, {picoseconds}, {}, {}, {}});
    return task;
  }
};

TEST(CriticalPath, CountsWhatTheHostLaunchesLateAsHost) {
  ByHand by_hand;
  by_hand.add(Activity::forward, 10);
  const sim::TaskId launched = by_hand.step.program.delay({30}), moment = by_hand.step.program.moment();
  by_hand.step.program.after(moment, launched);
  by_hand.step.program.after(by_hand.add(Activity::optimizer, 5), moment);
  const TimeSplit path = *critical_path(by_hand.step, sim::run(by_hand.step.program.graph()));
  EXPECT_EQ(path.compute, Time{10});
  EXPECT_EQ(path.host, Time{20});
  EXPECT_EQ(path.optimizer, Time{5});
  EXPECT_EQ(path.sum(), Time{35});
}

TEST(CriticalPath, GoesOverToTheRankThatEndsLast) {
  ByHand by_hand;
  const sim::TaskId own = by_hand.add(Activity::forward, 10);
  const sim::StreamId other = by_hand.step.program.add_stream();
  const sim::TaskId late = by_hand.step.program.kernels(other, {70});
  Lane second;
  second.tasks.push_back({late, late, Activity::weight, 0, 0, {70}, {}, {}, {}});
  const sim::TaskId both = by_hand.step.program.moment();
  by_hand.step.program.after(both, own);
  by_hand.step.program.after(both, late);
  by_hand.step.program.after(by_hand.add(Activity::backward, 20), both);
  by_hand.step.lanes.push_back(second);
  const TimeSplit path = *critical_path(by_hand.step, sim::run(by_hand.step.program.graph()));
  EXPECT_EQ(path.compute, Time{90});
  EXPECT_EQ(path.sum(), Time{90});
}

}  // namespace
}  // namespace stepcast::schedules
