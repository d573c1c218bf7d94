#include "schedules/plan/plan.h"

#include <gtest/gtest.h>

#include <thread>

#include "schedules/checks/check.h"
#include "schedules/forecast.h"
#include "schedules/results/quantities.h"
#include "tests/schedules/scenarios.h"

namespace stepcast::schedules {
namespace {

/// Plans of one model on one cluster that differ in what they split and keep.
std::vector<Scenario> plans() {
  std::vector<Scenario> all;
  for (const std::uint32_t tensor : {1u, 2u, 8u})
    for (const std::uint32_t pipeline : {1u, 2u, 4u})
      for (const int zero : {0, 1, 3})
        for (const Recompute recompute : {Recompute::none, Recompute::full}) {
          Scenario s = round_numbers(32);
          s.parallelism.tensor = tensor;
          s.parallelism.pipeline = pipeline;
          s.parallelism.data = 32 / (tensor * pipeline);
          s.data_parallel.zero = pipeline > 1 ? std::min(zero, 1) : zero;
          s.recompute = recompute;
          all.push_back(s);
        }
  return all;
}

/// Memory of which some of the plans() need more.
constexpr Bytes kTight{std::int64_t{6} << 30};

TEST(Plan, SaysOfMemoryWhatTheForecastSays) {
  workload::Machines machines;
  int fits = 0, does_not = 0;
  for (Scenario s : plans()) {
    s.cluster.gpu.memory = kTight;
    ASSERT_TRUE(check(s).empty()) << check(s).front().text;
    const Plan planned = plan(s, machines);
    const Forecast forecast = schedules::forecast(s, machines);
    ASSERT_EQ(planned.memory.size(), forecast.stages.size());
    for (std::size_t stage = 0; stage < planned.memory.size(); ++stage)
      EXPECT_EQ(planned.memory[stage].peak(), forecast.stages[stage].memory.peak());
    ASSERT_EQ(planned.out_of_memory.has_value(), forecast.out_of_memory.has_value());
    ++(planned.out_of_memory ? does_not : fits);
    if (!planned.out_of_memory) continue;
    EXPECT_EQ(planned.out_of_memory->needed, forecast.out_of_memory->needed);
    EXPECT_EQ(planned.out_of_memory->stage, forecast.out_of_memory->stage);
    EXPECT_TRUE(forecast.out_of_memory->advised);
  }
  EXPECT_GT(fits, 5);
  EXPECT_GT(does_not, 5);
}

TEST(Plan, WhatSurelyDoesNotFitIsNotSimulatedWhereThatIsAsked) {
  workload::Machines machines;
  for (Scenario s : plans()) {
    const Bytes peak = peak_memory(forecast(s, machines));
    for (const double over : {0.9, 1.2, 1.3}) {
      s.cluster.gpu.memory = {static_cast<std::int64_t>(static_cast<double>(peak.value) / over)};
      const Forecast all = forecast(s, machines), may_fit = forecast(s, machines, {.simulate = Simulate::what_may_fit}),
                     nothing = forecast(s, machines, {.advise = false, .simulate = Simulate::nothing});
      EXPECT_TRUE(all.simulated);
      EXPECT_EQ(all.out_of_memory.has_value(), over > 1);
      EXPECT_EQ(may_fit.simulated, over <= kSurelyTooMuch);
      EXPECT_EQ(may_fit.step, may_fit.simulated ? all.step : Time{});
      EXPECT_FALSE(nothing.simulated);
      for (const Forecast* some : {&may_fit, &nothing}) {
        EXPECT_EQ(some->gpus, all.gpus);
        EXPECT_EQ(some->parameters, all.parameters);
        EXPECT_EQ(peak_memory(*some), peak);
        EXPECT_EQ(some->stages.front().in_flight, all.stages.front().in_flight);
        ASSERT_EQ(some->out_of_memory.has_value(), over > 1);
      }
      if (over < 1) continue;
      EXPECT_EQ(may_fit.out_of_memory->advice.size(), all.out_of_memory->advice.size());
      EXPECT_FALSE(nothing.out_of_memory->advised);
    }
  }
}

// What a machine remembers of one forecast changes no other, in whatever order threads ask.
TEST(Plan, ForecastsThatShareMachinesAreThoseThatDoNot) {
  const std::vector<Scenario> all = plans();
  std::vector<Time> alone;
  for (const Scenario& s : all) alone.push_back(forecast(s).step);
  workload::Machines machines;
  constexpr std::size_t kThreads = 8, kForecasts = 1000;
  std::vector<std::vector<Time>> shared(kThreads, std::vector<Time>(all.size()));
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      for (std::size_t i = 0; i < kForecasts / kThreads; ++i) {
        const std::size_t at = (i * (2 * t + 1) + t) % all.size();
        shared[t][at] = forecast(all[at], machines).step;
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::vector<Time>& mine : shared)
    for (std::size_t i = 0; i < all.size(); ++i)
      if (mine[i] != Time{}) {
        EXPECT_EQ(mine[i], alone[i]) << i;
      }
}

}  // namespace
}  // namespace stepcast::schedules
