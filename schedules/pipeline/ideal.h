#pragma once

#include <optional>
#include <span>
#include <vector>

#include "schedules/pipeline/pipeline.h"
#include "sim/units.h"

namespace stepcast::schedules {

/// When each pass runs if every forward takes one time, every backward another, every pass for the weights' gradients a
/// third, and hand-offs nothing.
struct IdealTimes {
  std::vector<std::vector<Time>> start;  ///< per stage, in the order of its passes
  std::vector<Time> busy;                ///< per stage: its passes' time
  Time end{};
};

/// Runs the orders on sim with one stream per stage. `forward` and `backward` are for one virtual stage of one
/// micro-batch, `both` for a forward and the whole backward that run together (none: one after the other). Requires
/// validate(shape, orders).problems to be empty. O(passes).
IdealTimes ideal_times(Shape shape, std::span<const StageOrder> orders, Time forward, Time backward, Time weight = {},
                       std::optional<Time> both = {});

/// The part of all stages' time in which they wait: 1 - busy / (stages * end). In the papers' terms, the bubble over
/// the whole step; divide by 1 minus itself for the bubble over ideal time.
double bubble_fraction(const IdealTimes& times);

}  // namespace stepcast::schedules
