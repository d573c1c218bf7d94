#include "schedules/step/stalls.h"

#include <gtest/gtest.h>

#include "schedules/checks/check.h"
#include "schedules/forecast.h"
#include "tests/schedules/scenarios.h"

namespace stepcast::schedules {
namespace {

Scenario eight_gpus() {
  Scenario s = round_numbers(8);
  s.parallelism.data = 8;
  return s;
}

TEST(Input, IsBoundByTheSlowerOfStorageAndCores) {
  Scenario s = eight_gpus();
  s.input.bytes_per_sample = Bytes{1'000'000};
  s.input.storage_bandwidth = Bandwidth{1e9};
  EXPECT_EQ(input_time(s), milliseconds(64));
  s.input.preprocessing = milliseconds(12);
  EXPECT_EQ(input_time(s), milliseconds(96));  // 8 samples a data rank
  s.input.workers = 3;
  EXPECT_EQ(input_time(s), milliseconds(64));
}

TEST(Input, HidesUnderAStepThatIsLongerAndBoundsOneThatIsNot) {
  Scenario s = eight_gpus();
  const Forecast alone = forecast(s);
  s.input.preprocessing = {alone.step.value / 8 - 1};
  EXPECT_EQ(forecast(s).step, alone.step);
  s.input.preprocessing = {alone.step.value / 4};
  const Forecast bound = forecast(s);
  EXPECT_EQ(bound.step, s.input.preprocessing * 8);
  EXPECT_EQ(bound.stages[0].time.input, bound.step - alone.step);
  EXPECT_NEAR(bound.mfu, alone.mfu * (alone.step / bound.step), 1e-12);
}

TEST(Checkpoint, SynchronousStallsForTheWholeWrite) {
  const CheckpointPlan plan{.every = 10, .bandwidth = Bandwidth{1e9}};
  EXPECT_EQ(checkpoint_stall(plan, milliseconds(900), {5'000'000'000}, {}), milliseconds(5000));
}

TEST(Checkpoint, TakesTheTimeOfWritingThatIsKnown) {
  const CheckpointPlan plan{.every = 10, .write_time = milliseconds(4000)};
  EXPECT_EQ(checkpoint_stall(plan, milliseconds(900), {5'000'000'000}, {}), milliseconds(4000));
  Scenario s = eight_gpus();
  s.checkpoint = plan;
  EXPECT_TRUE(check(s).empty());
  EXPECT_EQ(forecast(s).stages[0].time.checkpoint, milliseconds(400));
}

TEST(Checkpoint, IsAskedForItsIntervalUnlessAWholeRunIs) {
  Scenario s = eight_gpus();
  s.checkpoint = {.write_time = milliseconds(4000)};
  EXPECT_EQ(check(s).front().key, "checkpoint.every");
  s.run.samples = 1e9;
  EXPECT_TRUE(check(s).empty());
  EXPECT_EQ(forecast(s).stages[0].time.checkpoint, Time{});
}

TEST(Checkpoint, AsynchronousStallsForTheCopyAndWhatIsNotWrittenInTime) {
  const CheckpointPlan plan{
      .every = 10, .bandwidth = Bandwidth{1e9}, .asynchronous = true, .snapshot_bandwidth = Bandwidth{20e9}};
  const Bytes on_gpu{2'000'000'000};
  EXPECT_EQ(checkpoint_stall(plan, milliseconds(600), {5'000'000'000}, on_gpu), milliseconds(100));
  EXPECT_EQ(checkpoint_stall(plan, milliseconds(300), {5'000'000'000}, on_gpu), milliseconds(100 + 2000));
}

TEST(Checkpoint, HoldsEachParameterAndItsOptimizerStateOnceHoweverSharded) {
  for (const int zero : {0, 1, 3}) {
    Scenario s = eight_gpus();
    s.data_parallel.zero = zero;
    const Forecast without = forecast(s);
    s.checkpoint = {.every = 50, .bandwidth = Bandwidth{1e9}};
    const Forecast with = forecast(s);
    // fp16 parameters, and fp32 master copy, momentum and variance: 14 bytes.
    const Time stall = from_seconds(without.parameters * 14 / 1e9);
    EXPECT_EQ(with.step - without.step, Time{stall.value / 50}) << "zero " << zero;
    EXPECT_EQ(with.stages[0].time.checkpoint, with.step - without.step);
  }
}

TEST(Stalls, AreOffUnlessAsked) {
  const Forecast f = forecast(eight_gpus());
  EXPECT_EQ(f.stages[0].time.input, Time{});
  EXPECT_EQ(f.stages[0].time.checkpoint, Time{});
}

TEST(Stalls, SayWhichKeyIsMissing) {
  const auto blamed = [](const Scenario& s) {
    const std::vector<Problem> problems = check(s);
    return problems.size() == 1 ? problems[0].key : std::to_string(problems.size());
  };
  Scenario s = eight_gpus();
  s.input.bytes_per_sample = Bytes{1};
  EXPECT_EQ(blamed(s), "input.storage_bandwidth");
  s.input = {.storage_bandwidth = Bandwidth{1}};
  EXPECT_EQ(blamed(s), "input.bytes_per_sample");
  s.input = {};
  s.checkpoint.every = 1;
  EXPECT_EQ(blamed(s), "checkpoint.bandwidth");
  s.checkpoint = {.every = 1, .bandwidth = Bandwidth{1}, .asynchronous = true};
  EXPECT_EQ(blamed(s), "checkpoint.snapshot_bandwidth");
  s.checkpoint = {.every = 1, .bandwidth = Bandwidth{1}, .snapshot_bandwidth = Bandwidth{1}};
  EXPECT_EQ(blamed(s), "checkpoint.snapshot_bandwidth");
  s.checkpoint = {.asynchronous = true, .snapshot_bandwidth = Bandwidth{1}};
  EXPECT_EQ(blamed(s), "checkpoint.every");
}

}  // namespace
}  // namespace stepcast::schedules
