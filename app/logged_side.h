#pragma once

#include <string>

#include "app/diff/side.h"
#include "calibrate/logs/step_trace.h"

namespace stepcast::app {

/// Whether a file holds a scenario, or several (a table, a folder), by its name: else it is something recorded.
bool holds_scenarios(const std::string& file);

/// The step of a file that is no scenario: a result of `run --format json`, of which `row` is meant, or a profiler's
/// trace, of which `choice` is meant. `beside`: the scenario that it is compared with. Throws InputError.
DiffSide logged_side(const std::string& file, const std::string& row, const calibrate::TraceChoice& choice,
                     const schedules::Scenario* beside);

}  // namespace stepcast::app
