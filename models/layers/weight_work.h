#pragma once

#include <compare>

#include "scenario/scenario.h"

namespace stepcast::schedules {

/// What the passes of a block do with its weights and their gradients besides multiplying by them. Plans that differ
/// in the data-parallel state alone have the same blocks if they have this in common.
struct WeightWork {
  bool casts_anew = false;  ///< to a low precision, for each pass: what ZeRO 3 gathers is gone after it
  bool copies_gathered = false, copies_summed = false;  ///< from or to the buffers of collectives
  friend auto operator<=>(const WeightWork&, const WeightWork&) = default;
};

WeightWork weight_work(const Scenario& scenario);

}  // namespace stepcast::schedules
