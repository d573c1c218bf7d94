#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "language/questions.h"
#include "scenario/problem.h"
#include "schedules/forecast.h"
#include "schedules/plan/plan.h"
#include "workload/machines.h"

/// stepcast as a library: load scenarios, screen plans, forecast steps. docs/library.md has it by example.
namespace stepcast {

using schedules::Forecast;
using schedules::ForecastOptions;
using schedules::Plan;
using schedules::Problem;
using schedules::Scenario;
/// The clusters that forecasts run on, each built once. Share one among all forecasts, from any thread.
using workload::Machines;
/// A scenario that was loaded, with its name and place; or why it cannot run (`error`, else empty).
using language::Question;

/// The scenario of a file, with `settings` ("parallelism.tensor=8") laid over it. `configs`: the folders that hold
/// files as configs/ does, the first one with a file of a name wins; none: those that the program stepcast looks in
/// (docs/own-files.md). Throws InputError, with its place, for what is wrong with the scenario.
Scenario load(const std::filesystem::path& file, const std::vector<std::string>& settings = {},
              const std::vector<std::filesystem::path>& configs = {});

/// All scenarios of files, runs tables and folders. What is wrong with one of them is in its `error`. Throws InputError
/// where a file is missing, or a key is not there.
std::vector<Question> load_all(const std::vector<std::string>& paths, const std::vector<std::string>& settings = {},
                               const std::vector<std::filesystem::path>& configs = {});

/// What contradicts in a scenario that was changed since it was loaded, empty: it can run.
std::vector<Problem> problems(const Scenario& scenario);

/// The plan alone, with its memory and whether that fits: some ten microseconds, nothing is timed. Requires problems()
/// to be empty.
Plan screen(const Scenario& scenario, Machines& machines);

/// One training step. Requires problems() to be empty. Throws InputError where the cluster cannot carry the plan.
Forecast forecast(const Scenario& scenario, Machines& machines, const ForecastOptions& options = {});

}  // namespace stepcast
