#pragma once

#include <string>
#include <vector>

#include "scenario/scenario.h"
#include "schedules/results/results.h"

namespace stepcast::schedules {

/// A choice that was made for the user, or a key that changes nothing in this scenario.
struct Note {
  std::string key;   ///< "data_parallel.zero", or the option that it is about
  std::string text;  ///< one plain sentence
};

/// What to know of a scenario that says all of it: what its plan makes of ZeRO and buckets, and keys without effect.
/// Requires check() to be empty.
std::vector<Note> notes(const Scenario& scenario);

/// What to know of a forecast: how much was simulated transfer by transfer, and whether traffic inside layers passed
/// other traffic on a link that cannot carry both.
std::vector<Note> notes(const Forecast& forecast);

}  // namespace stepcast::schedules
