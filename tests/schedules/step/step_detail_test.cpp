// What a report draws of a step adds up to what the forecast says of it.

#include "schedules/results/step_detail.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "schedules/forecast.h"
#include "tests/models/models.h"
#include "tests/schedules/scenarios.h"

namespace stepcast::schedules {
namespace {

Scenario four_stages() {
  Scenario s = round_numbers(8);
  s.model = {"llama", Family::llama, 8, 1024, 16, 4, 4096, 50257, ""};
  s.training = {.global_batch = 32, .micro_batch = 2, .sequence = 1024, .precision = Precision::bf16};
  s.training.attention = Attention::flash;
  s.parallelism = {.pipeline = 4, .data = 2};
  return s;
}

Forecast drawn(const Scenario& s) { return forecast(s, {.trace = true, .step_detail = true, .advise = false}); }

/// Every line is somebody's; a pass is its lines, a stage its blocks' passes.
void expect_sums(const StepDetail& detail) {
  for (const DerivedStage& stage : detail.stages) {
    Time compute{}, exposed{};
    for (std::size_t kind = 0; kind < detail.blocks.size(); ++kind) {
      for (const PassLines& pass : detail.blocks[kind].passes) {
        Time of_lines{};
        for (const PassLine& line : pass.lines) of_lines += line.compute;
        EXPECT_EQ(of_lines, pass.compute) << pass.pass;
        compute += pass.compute * (std::int64_t{stage.blocks[kind]} * stage.micro_batches);
        exposed += pass.exposed * (std::int64_t{stage.blocks[kind]} * stage.micro_batches);
      }
    }
    EXPECT_EQ(compute, stage.compute) << stage.stage;
    EXPECT_EQ(exposed, stage.exposed) << stage.stage;
  }
}

// Tensor ranks, what is made again, gradients of weights in passes of their own, experts, several chunks a stage.
TEST(StepDetail, LinesAddUpToPassesAndStages) {
  const std::function<void(Scenario&)> plans[] = {
      [](Scenario&) {}, [](Scenario& s) { s.parallelism = {.tensor = 4, .pipeline = 2, .data = 1, .sequence = true}; },
      [](Scenario& s) { s.recompute = Recompute::full; }, [](Scenario& s) { s.pipeline.schedule = "zb-h1"; },
      [](Scenario& s) {
        s.pipeline.schedule = "interleaved-1f1b";
        s.pipeline.virtual_stages = 2;
      }};
  for (const auto& change : plans) {
    Scenario s = four_stages();
    change(s);
    const Forecast f = drawn(s);
    ASSERT_TRUE(f.detail);
    expect_sums(*f.detail);
    for (const DerivedStage& stage : f.detail->stages)
      EXPECT_EQ(stage.compute, f.stages[stage.stage].time.compute) << s.pipeline.schedule << " stage " << stage.stage;
  }
}

TEST(StepDetail, WaitsOnTheTimelineAreThoseOfTheSplit) {
  const Forecast f = drawn(four_stages());
  for (const StageReport& stage : f.stages) {
    std::map<Doing, Time> spent;
    Time end{};
    for (const Stretched& s : f.detail->stretches) {
      if (s.stage != stage.stage || s.stream != 0) continue;
      EXPECT_EQ(s.start, end) << "a gap, or two at once, on stage " << stage.stage;
      end = s.start + s.duration;
      spent[s.doing] += s.duration;
    }
    EXPECT_EQ(end, f.step);
    EXPECT_EQ(spent[Doing::bubble], stage.time.bubble);
    EXPECT_EQ(spent[Doing::idle], stage.time.idle);
    EXPECT_EQ(spent[Doing::optimizer] + spent[Doing::host], stage.time.optimizer + stage.time.host);
  }
}

TEST(StepDetail, TheBusiestLinkIsTheForecasts) {
  const Forecast f = drawn(four_stages());
  ASSERT_TRUE(f.busiest_link);
  ASSERT_FALSE(f.detail->links.empty());
  EXPECT_NEAR(f.detail->links.front().utilisation, f.busiest_link->utilisation, 1e-12);
  for (const UsedLink& link : f.detail->links) {
    double sum = 0;
    for (const UsedLink::User& user : link.users) sum += user.share;
    EXPECT_NEAR(sum, link.utilisation, 1e-12);
  }
}

// The forecast is the same, whether anybody looks at it or not.
TEST(StepDetail, ChangesNoForecast) {
  const Scenario s = four_stages();
  EXPECT_EQ(drawn(s).step, forecast(s).step);
}

}  // namespace
}  // namespace stepcast::schedules
