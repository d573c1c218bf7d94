#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "app/sweep/row.h"

namespace stepcast::app {

/// What became of the points of a sweep.
struct SweepSummary {
  std::size_t fit = 0, do_not_fit = 0, cannot_run = 0, left_out = 0;
  std::optional<SweepRow> fastest{};  ///< of those that fit
  std::string first_error{};          ///< of those that cannot run

  void add(const SweepColumns& columns, const SweepRow& row);
};

/// "24 points: 10 fit, 8 do not fit, 4 cannot run, 2 left out".
std::string summary_text(const SweepSummary& summary);

/// "fastest that fits: --set parallelism.tensor=8 --set ..., 12.3 s"; empty where none fits or was simulated.
std::string fastest_text(const SweepSummary& summary, const SweepColumns& columns);

}  // namespace stepcast::app
