#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/report/answer.h"
#include "app/report/simulated_plan.h"
#include "calibrate/logs/step_trace.h"
#include "schedules/results/results.h"

namespace stepcast::app {

/// Where a stage's step went. The parts of `time`, `unclassed` and `unassigned` add up to the step exactly.
struct SideStage {
  std::uint32_t stage = 0;
  schedules::TimeSplit time;  ///< with its details, where the side has them
  Time unclassed{};           ///< of a trace: kernels whose names say nothing
  Time unassigned{};          ///< of a trace: traffic of which nothing says which ranks it is among
  std::optional<schedules::MemoryUse> memory{};
};

/// One of two steps that are compared.
struct DiffSide {
  std::string name, file;
  Time step{};
  std::vector<SideStage> stages;  ///< at least one
  bool detailed = true;           ///< the parts' details are told
  bool fits = true;
  std::optional<std::map<std::string, std::string>> keys{};  ///< what a scenario says; none: nobody knows
  std::vector<PlanPart> plan{};                              ///< that was forecast; empty: nobody knows
  std::optional<calibrate::StepTrace> trace{};
};

/// A forecast that was simulated, with details.
DiffSide side_of_forecast(const Answer& answer);

/// A result of `run --format json`. `name`: of the result where there are several; empty: the only one. Throws
/// InputError for what is no such file, and where a stage's parts do not add up to its step.
DiffSide side_of_result(const std::string& text, const std::string& file, const std::string& name);

/// A step of a trace. `beside`: the scenario that it is compared with, which says which ranks traffic may be among.
DiffSide side_of_trace(calibrate::StepTrace trace, const std::string& file, const schedules::Scenario* beside);

}  // namespace stepcast::app
