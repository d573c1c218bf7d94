#pragma once

#include <span>
#include <string_view>

#include "scenario/scenario.h"

namespace stepcast::calibrate {

/// A part of the cost model that may be wrong by itself.
struct Term {
  std::string_view name;
  double most = 1;         ///< a factor on its time, either way, past which it is not plausible that it is that wrong
  std::string_view basis;  ///< what that rests on
  void (*scale)(schedules::Scenario& scenario, double factor);  ///< makes the term take `factor` times as long
};

/// All of them; what a step does not have it does not feel.
std::span<const Term> terms();

}  // namespace stepcast::calibrate
