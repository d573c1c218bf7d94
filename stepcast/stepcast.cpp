#include "stepcast/stepcast.h"

#include "language/configs/config_folders.h"
#include "scenario/scenario.h"
#include "schedules/checks/check.h"
#include "sim/input_error.h"

namespace stepcast {

Scenario load(const std::filesystem::path& file, const std::vector<std::string>& settings,
              const std::vector<std::filesystem::path>& configs) {
  std::vector<Question> all = load_all({file.string()}, settings, configs);
  if (all.size() != 1)
    throw InputError(file.string(), "found " + std::to_string(all.size()) + " scenarios, expected one");
  if (!all.front().error.empty()) throw InputError("", all.front().error);
  return std::move(all.front().scenario);
}

std::vector<Question> load_all(const std::vector<std::string>& paths, const std::vector<std::string>& settings,
                               const std::vector<std::filesystem::path>& configs) {
  language::Library library(configs.empty() ? language::config_folders() : configs);
  return language::read_questions(paths, settings, library);
}

std::vector<Problem> problems(const Scenario& scenario) { return schedules::check(scenario); }

Plan screen(const Scenario& scenario, Machines& machines) { return schedules::plan(scenario, machines); }

Forecast forecast(const Scenario& scenario, Machines& machines, const ForecastOptions& options) {
  return schedules::forecast(scenario, machines, options);
}

}  // namespace stepcast
