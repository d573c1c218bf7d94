#pragma once

#include <vector>

#include "calibrate/bundle/bundle.h"
#include "calibrate/fit/fitted_model.h"

namespace stepcast::calibrate {

/// Copies of each kind and memory by t = latency + bytes / bandwidth: "copies.h2d_pinned.latency" and its like. What
/// GPUs get that copy at once is noted.
std::vector<FittedModel> fit_copies(const Bundle& bundle);

/// How much longer compute takes while something else runs beside it: together = alone x (1 + slowdown), one for each
/// thing beside. That of an all-reduce is software.overlap_slowdown. Likewise an all-reduce beside compute, for people.
std::vector<FittedModel> fit_interference(const Bundle& bundle);

}  // namespace stepcast::calibrate
