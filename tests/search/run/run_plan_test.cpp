#include "search/run/run_plan.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "schedules/checks/check.h"
#include "schedules/forecast.h"
#include "search/run/batches.h"
#include "sim/input_error.h"
#include "tests/schedules/scenarios.h"

namespace stepcast::search {
namespace {

using schedules::Forecast;
using schedules::Money;
using schedules::Scenario;

Scenario sixteen_gpus() {
  Scenario s = schedules::round_numbers(16);
  s.parallelism.data = 16;
  s.run.tokens = 1e12;
  return s;
}

Scenario with_failures() {
  Scenario s = sixteen_gpus();
  s.checkpoint.bandwidth = Bandwidth{1e9};
  s.run.failures = {.gpu_mtbf = hours(4000), .node_mtbf = hours(2000), .restart = seconds(600)};
  return s;
}

RunPlan plan(const Scenario& s) {
  const Forecast forecast = schedules::forecast(step_scenario(s));
  return plan_run(s, forecast, forecast.step, s.run.target_batch.value_or(s.training.global_batch));
}

std::vector<std::string> open_about(const RunPlan& plan) {
  std::vector<std::string> about;
  for (const OpenQuestion& open : plan.open) about.push_back(open.about);
  return about;
}

TEST(RunPlan, IsStepsTimesStepWhereNothingElseIsKnown) {
  const RunPlan p = plan(sixteen_gpus());
  EXPECT_DOUBLE_EQ(p.samples, 1e12 / 1024);
  EXPECT_EQ(p.steps, 15258790);  // 15258789.06 of 64 samples
  EXPECT_EQ(p.times.total, duration(p.step) * p.steps);
  EXPECT_EQ(p.times.goodput(), 1);
  EXPECT_EQ(p.nodes, 2u);
  EXPECT_DOUBLE_EQ(p.gpu_hours(), to_hours(p.times.total) * 16);
  EXPECT_EQ(open_about(p), (std::vector<std::string>{"failures", "energy", "money", "batch"}));
  EXPECT_EQ(p.open[0].keys,
            (std::vector<std::string>{"run.failures.gpu_mtbf", "run.failures.restart", "checkpoint.bandwidth"}));
}

TEST(RunPlan, SamplesAndEpochsAreTargetsToo) {
  Scenario s = sixteen_gpus();
  s.run = {.samples = 6.4e6};
  EXPECT_EQ(plan(s).steps, 1e5);
  s.run = {.epochs = 90, .dataset_samples = 1281167};
  EXPECT_DOUBLE_EQ(plan(s).samples, 90.0 * 1281167);
  s.run = {};
  EXPECT_EQ(run_problems(s).front().key, "run.tokens");
}

TEST(RunPlan, FailuresHaveTheBestIntervalInWholeStepsUnlessTheScenarioSaysOne) {
  Scenario s = with_failures();
  const RunPlan best = plan(s);
  // 16 GPUs of 4,000 h and 2 nodes of 2,000 h.
  EXPECT_NEAR(to_hours(best.failures->mean_between), 200, 1e-9);
  EXPECT_EQ(best.checkpoints->steps, std::round(best.checkpoints->steps));
  EXPECT_NEAR(best.checkpoints->interval / *best.checkpoints->best, 1, 0.01);
  EXPECT_FALSE(best.checkpoints->asked);
  EXPECT_LT(best.times.goodput(), 1);
  s.checkpoint.every = 17;
  const RunPlan asked = plan(s);
  EXPECT_EQ(asked.checkpoints->steps, 17);
  EXPECT_TRUE(asked.checkpoints->asked);
  EXPECT_GT(asked.times.total, best.times.total);
  EXPECT_EQ(asked.step, best.step);  // without the stalls that `run` spreads over its steps
}

TEST(RunPlan, ACheckpointIsWrittenInTheTimeThatIsKnown) {
  Scenario s = with_failures();
  const Forecast forecast = schedules::forecast(step_scenario(s));
  EXPECT_DOUBLE_EQ(plan(s).checkpoints->copy.value, static_cast<double>(forecast.state.value) / 1e9);
  s.checkpoint = {.write_time = milliseconds(9000)};
  EXPECT_DOUBLE_EQ(plan(s).checkpoints->copy.value, 9);
  EXPECT_EQ(plan(s).checkpoints->write.value, 0);
  s.checkpoint = {.bandwidth = Bandwidth{1e9}, .asynchronous = true, .snapshot_bandwidth = Bandwidth{20e9}};
  EXPECT_TRUE(schedules::check(s).empty());
  EXPECT_DOUBLE_EQ(plan(s).checkpoints->write.value, static_cast<double>(forecast.state.value) / 1e9);
  EXPECT_LT(plan(s).checkpoints->copy, plan(s).checkpoints->write);
}

TEST(RunPlan, CheckpointsWithoutFailuresAreCountedWhereTheScenarioSaysHowMany) {
  Scenario s = sixteen_gpus();
  s.checkpoint = {.every = 1000, .write_time = milliseconds(9000)};
  const RunPlan p = plan(s);
  EXPECT_FALSE(p.failures);
  EXPECT_NEAR(p.times.checkpoints.value, 9 * std::ceil(p.steps / 1000), 9);
  EXPECT_EQ(open_about(p).front(), "failures");
}

TEST(RunPlan, EnergyIsPowerTimesTimeByState) {
  Scenario s = with_failures();
  s.run.power = {.computing = Power{400}, .waiting = Power{400}, .idle = Power{400}};
  const RunPlan flat = plan(s);
  EXPECT_NEAR(to_kilowatt_hours(*flat.energy), flat.gpu_hours() * 0.4, 1e-6 * flat.gpu_hours());
  s.run.power.host = Power{1600};
  s.run.power.usage_effectiveness = 1.25;
  EXPECT_NEAR(to_kilowatt_hours(*plan(s).energy),
              1.25 * (flat.gpu_hours() * 0.4 + to_hours(flat.times.total) * 2 * 1.6), 1e-6 * flat.gpu_hours());
  s.run.power = {.computing = Power{400}, .waiting = Power{100}, .idle = Power{50}};
  EXPECT_LT(plan(s).energy->value, flat.energy->value);
  EXPECT_GT(plan(s).energy->value, flat.energy->value / 4);
  s.run.power.idle.reset();
  EXPECT_FALSE(plan(s).energy);
  s.run.failures = {};  // nobody stands idle then
  EXPECT_TRUE(plan(s).energy);
}

TEST(RunPlan, MoneyIsGpuHoursAndKilowattHours) {
  Scenario s = sixteen_gpus();
  s.run.gpu_hour_price = Money{2.5, "USD"};
  EXPECT_NEAR(plan(s).money->amount, plan(s).gpu_hours() * 2.5, 1e-6);
  s.run.kilowatt_hour_price = Money{0.1, "USD"};
  EXPECT_FALSE(plan(s).money);  // energy is not known
  s.run.power = {.computing = Power{400}, .waiting = Power{400}};
  EXPECT_NEAR(plan(s).money->amount, plan(s).gpu_hours() * (2.5 + 0.4 * 0.1), 1e-6 * plan(s).gpu_hours());
  s.run.gpu_hour_price.reset();
  EXPECT_NEAR(plan(s).money->amount, plan(s).gpu_hours() * 0.4 * 0.1, 1e-6 * plan(s).gpu_hours());
}

TEST(RunPlan, ARunThatNeverEndsIsRefused) {
  Scenario s = with_failures();
  s.run.failures.gpu_mtbf = seconds(30);
  EXPECT_THROW(plan(s), InputError);
}

TEST(RunPlan, ContradictionsOfItsKeysAreTold) {
  const auto told = [](auto change) {
    Scenario s = sixteen_gpus();
    change(s);
    const auto problems = schedules::check(s);
    return problems.empty() ? std::string() : problems.front().key;
  };
  EXPECT_EQ(told([](Scenario&) {}), "");
  EXPECT_EQ(told([](Scenario& s) { s.run.epochs = 90; }), "run.dataset_samples");
  EXPECT_EQ(told([](Scenario& s) { s.run.dataset_samples = 90; }), "run.epochs");
  EXPECT_EQ(told([](Scenario& s) {
              s.run.batch_limit = 100;
              s.run.target_batch = 200;
            }),
            "run.batch_limit");
  EXPECT_EQ(told([](Scenario& s) { s.run.batch_limit = s.training.global_batch - 1; }), "run.batch_limit");
  EXPECT_EQ(told([](Scenario& s) { s.run.batch_limit = s.training.global_batch; }), "");
  EXPECT_EQ(told([](Scenario& s) {
              s.run.gpu_hour_price = Money{1, "USD"};
              s.run.kilowatt_hour_price = Money{1, "EUR"};
            }),
            "run.kilowatt_hour_price");
  EXPECT_EQ(told([](Scenario& s) { s.run.power = {.computing = Power{300}, .waiting = Power{400}}; }),
            "run.power.waiting");
  EXPECT_EQ(told([](Scenario& s) { s.run.power = {.waiting = Power{300}, .idle = Power{400}}; }), "run.power.idle");
  EXPECT_EQ(told([](Scenario& s) { s.checkpoint.asynchronous = true; }), "checkpoint.bandwidth");
}

TEST(Batches, TheBestOneIsNeitherTheFastestStepsNorTheFewestSamples) {
  Scenario s = sixteen_gpus();
  s.run.critical_batch = 512;
  workload::Machines machines;
  const BatchPlans found = plan_batches(s, {}, machines);
  ASSERT_GE(found.plans.size(), 3u);
  EXPECT_EQ(found.least_time, found.least_money);  // as many GPUs in all of them
  for (std::size_t i = 0; i < found.plans.size(); ++i) {
    const RunPlan& each = found.plans[i];
    EXPECT_GE(each.times.total, found.plans[found.least_time].times.total);
    EXPECT_LE(each.useful_samples_per_second, found.plans[found.least_time].useful_samples_per_second);
    if (i > 0) {
      EXPECT_EQ(each.batch, 2 * found.plans[i - 1].batch);
      EXPECT_GT(each.samples, found.plans[i - 1].samples);
      EXPECT_LT(each.steps, found.plans[i - 1].steps);
    }
    if (each.batch == s.training.global_batch) {
      EXPECT_EQ(each.times.total, plan(s).times.total);
    }
  }
}

TEST(Batches, NoneIsPastTheLimitOfLinearScaling) {
  Scenario s = sixteen_gpus();
  s.run.batch_limit = 300;
  workload::Machines machines;
  const BatchPlans found = plan_batches(s, {}, machines);
  EXPECT_EQ(found.plans.back().batch, 256);
  for (const RunPlan& each : found.plans) EXPECT_EQ(each.samples, found.plans.front().samples);
}

TEST(Batches, MoreGpusAreFasterAndDearer) {
  Scenario s = sixteen_gpus();
  s.run.critical_batch = 512;
  workload::Machines machines;
  const std::uint32_t gpus[] = {4, 8, 64};
  const BatchPlans found = plan_batches(s, gpus, machines);
  EXPECT_TRUE(std::ranges::any_of(found.plans, [](const RunPlan& each) { return each.gpus == 16; }))
      << "the scenario's own beside them";
  EXPECT_EQ(found.plans[found.least_time].gpus, 64u);
  EXPECT_LT(found.plans[found.least_money].gpus, 64u);
  EXPECT_LE(found.plans[found.least_money].gpu_hours(), found.plans[found.least_time].gpu_hours());
  EXPECT_LE(found.plans[found.least_money].batch, found.plans[found.least_time].batch);
}

}  // namespace
}  // namespace stepcast::search
