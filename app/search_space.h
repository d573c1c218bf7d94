#pragma once

#include <optional>
#include <span>
#include <string>

#include "app/report/search_report.h"
#include "search/search.h"

namespace stepcast::app {

/// step_time, memory, gpus, money or energy. Throws InputError at `place` for another word.
search::Objective search_objective(const std::string& name, const std::string& place = "--objective");

/// Only plans below a limit are looked for.
struct SearchLimits {
  std::optional<Time> step{};     ///< steps take less
  std::optional<Bytes> memory{};  ///< the fullest GPU holds no more
};

/// "10 s", "60 GiB" or both with a comma between them; "": no limits. Throws InputError at `place` for another word.
SearchLimits search_limits(const std::string& words, const std::string& place = "--within");

/// The usual plans of a scenario, with the values of --over ("KEY=A,B,...") and the keys of --fix. Throws InputError
/// for a key that is no axis or said twice, and for a value that it does not take.
search::Space search_space(schedules::Scenario start, search::Objective objective, std::span<const std::string> over,
                           std::span<const std::string> fix);

/// What was found, each plan with its band from all measured rows.
SearchReport search_report(search::Space space, search::SearchAnswer answer, search::Objective objective);

}  // namespace stepcast::app
