#include "search/bound.h"

#include <gtest/gtest.h>

#include "schedules/checks/check.h"
#include "schedules/forecast.h"
#include "tests/sanitized.h"
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
  for (const Axis& axis : axes()) out += std::string(axis.key) + "=" + text(axis, axis.of(s)) + " ";
  for (const std::uint32_t layers : s.parallelism.layers_per_stage) out += std::to_string(layers) + " ";
  return out;
}

TEST(StepBound, IsNoMoreThanTheStepOfAnyPlanOf500RandomSpaces) {
  const std::uint64_t spaces = stepcast::test::kSanitized ? 25 : 500;
  std::size_t plans = 0;
  double passes = 0, traffic = 0;
  for (std::uint64_t seed = 1; seed <= spaces; ++seed) {
    workload::Machines machines;
    for (const Scenario& s : plans_of(random_space(seed), machines)) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ": " + words(s));
      const schedules::Plan plan = schedules::plan(s, machines);
      StepBound bound(machines.of(machine_of(s)));
      const Time of_passes = bound.of_passes(s, plan), with_traffic = bound.with_traffic(s, plan);
      const Time step = schedules::forecast(s, machines, {.advise = false}).step;
      EXPECT_LE(of_passes, with_traffic);
      EXPECT_LE(with_traffic, step);
      if (of_passes == Time{}) continue;
      ++plans;
      passes += of_passes / step;
      traffic += with_traffic / step;
    }
  }
  const double count = static_cast<double>(plans);
  EXPECT_GT(plans, 10 * spaces);
  EXPECT_GT(passes / count, 0.7);  // else it prunes nothing
  EXPECT_GT(traffic / count, passes / count + 0.02);
  RecordProperty("mean_of_passes", std::to_string(passes / count));
  RecordProperty("mean_with_traffic", std::to_string(traffic / count));
}

}  // namespace
}  // namespace stepcast::search
