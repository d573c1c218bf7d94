#pragma once

#include <optional>
#include <string>
#include <vector>

#include "scenario/scenario.h"
#include "schedules/results/results.h"
#include "search/layouts/held_stages.h"
#include "search/layouts/layouts.h"

namespace stepcast::app {

/// A plan with layouts of its own, the scenario's own plan, and the nearest that a scenario can say.
struct LayoutReport {
  schedules::Scenario scenario;
  std::optional<search::LayoutPlan> plan;          ///< none: nothing fits
  std::vector<search::StageShortage> shortages{};  ///< of stages that were held, where they are why nothing fits
  schedules::Forecast own;
  std::optional<schedules::Forecast> nearest{};  ///< of plan->scenario
};

std::string layout_table(const LayoutReport& report);
std::string layout_json(const LayoutReport& report);

}  // namespace stepcast::app
