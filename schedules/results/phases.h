#pragma once

#include <span>
#include <string_view>

#include "schedules/results/results.h"

namespace stepcast::schedules {

/// A part of a step whose time a measurement may state under measured.phases, and what a forecast has of it.
struct Phase {
  std::string_view name;  ///< in the scenario and in reports
  std::optional<Time> (*predicted)(const Forecast&);
  bool of_a_layer = false;  ///< one run of one layer; else of the whole step
};

std::span<const Phase> phases();

/// The phase of this name; null where there is none.
const Phase* find_phase(std::string_view name);

}  // namespace stepcast::schedules
