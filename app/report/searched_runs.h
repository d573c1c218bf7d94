#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "search/search.h"

namespace stepcast::app {

/// What a search found for one of many runs, beside the run's own plan.
struct SearchedRun {
  std::string name;
  std::string error;                    ///< why nothing was searched, else empty
  std::vector<std::string> settings{};  ///< of the best plan, over the run's own: "parallelism.tensor=8"
  search::SearchAnswer answer{};
};

std::string searched_runs_table(std::span<const SearchedRun> runs);
std::string searched_runs_csv(std::span<const SearchedRun> runs);
/// But for "seconds" the same on any machine.
std::string searched_runs_json(std::span<const SearchedRun> runs);

}  // namespace stepcast::app
