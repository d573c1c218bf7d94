#pragma once

#include <map>
#include <string>

#include "scenario/scenario.h"
#include "search/sensitivity.h"

namespace stepcast::app {

/// What a step waits for, and what that is worth.
struct SensitivityReport {
  schedules::Scenario scenario;
  search::Sensitivity sensitivity;
  std::map<std::string, double> prices{};  ///< by resource: of one per cent more of it, in any currency
};

std::string sensitivity_table(const SensitivityReport& report);
std::string sensitivity_csv(const SensitivityReport& report);
std::string sensitivity_json(const SensitivityReport& report);
/// A bar for each resource, as long as its elasticity.
std::string sensitivity_svg(const SensitivityReport& report);

}  // namespace stepcast::app
