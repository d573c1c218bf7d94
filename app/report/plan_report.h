#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/report/answer.h"
#include "search/run/batches.h"
#include "search/run/run_plan.h"
#include "search/run/simulated_failures.h"

namespace stepcast::app {

/// One whole run: the forecast of its step, what is made of it, or why there is nothing.
struct PlannedRun {
  Answer answer;  ///< its question's error says why there is no plan
  std::optional<search::RunPlan> plan{};
  std::optional<Duration> low{}, high{};  ///< of the run, where its step lies in the band of forecasts
  std::optional<search::SimulatedRuns> simulated{};
  std::optional<search::BatchPlans> batches{};
};

std::string plan_table(std::span<const PlannedRun> runs);
/// A row for each run, and one for each batch that was tried besides.
std::string plan_csv(std::span<const PlannedRun> runs);
std::string plan_json(std::span<const PlannedRun> runs);

}  // namespace stepcast::app
