#pragma once

// What tests of published configurations ask of the scenarios that they become.

#include <string>
#include <vector>

#include "language/frameworks/words.h"
#include "schedules/checks/check.h"

namespace stepcast::language {

/// What contradicts in the scenario, and the words of these keys.
inline std::string said_of(const schedules::Scenario& scenario, const std::vector<std::string>& keys) {
  std::string out;
  for (const schedules::Problem& problem : schedules::check(scenario)) out += problem.text + "\n";
  for (const std::string& key : keys) out += (out.empty() ? "" : " ") + text_of(words_of(scenario), key);
  return out;
}

inline const std::vector<std::string> kPlan{
    "parallelism.tensor",    "parallelism.pipeline", "parallelism.data",   "training.micro_batch",
    "training.global_batch", "training.precision",   "data_parallel.zero", "recompute"};

}  // namespace stepcast::language
