#pragma once

#include <string>

#include "scenario/scenario.h"
#include "schedules/results/results.h"

namespace stepcast::app {

/// What the page of one step draws beside the numbers of run_json(): the timeline, memory over time, links, traffic and
/// how the step is derived. Requires a forecast with detail. Times in seconds, sizes in bytes, but for what
/// stretch_rows() packs.
std::string step_detail_json(const schedules::Forecast& forecast, const schedules::Scenario& scenario);

}  // namespace stepcast::app
