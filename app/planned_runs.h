#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/report/plan_report.h"
#include "language/question.h"

namespace stepcast::app {

/// As the options of `stepcast plan` of the same names.
struct PlanOptions {
  std::vector<std::uint32_t> gpus;        ///< ascending, each once
  std::uint32_t simulated = 0, seed = 1;  ///< runs whose failures are drawn; 0: none
};

/// Plans the whole run of each question that can run (search::run_problems), on so many threads (0: as many as the
/// machine has). `dashes`: stand before an option's name in messages. Throws InputError for a question that does not
/// stand among others and cannot be planned.
std::vector<PlannedRun> planned_runs(std::vector<language::Question> questions, const PlanOptions& options,
                                     unsigned threads, const std::string& dashes = "--");

}  // namespace stepcast::app
