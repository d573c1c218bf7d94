#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "schedules/pipeline/period.h"
#include "schedules/step/step.h"
#include "sim/executor.h"

namespace stepcast::schedules {

/// What a pipeline does again and again once it repeats. One repetition is one or more periods of its orders.
struct SteadyState {
  std::uint32_t periods = 1;         ///< of the orders, in one repetition
  Time period{};                     ///< what one repetition takes
  std::vector<TimeSplit> split;      ///< by stage, of one repetition
  std::vector<std::uint32_t> times;  ///< by CommunicationId: how often it runs in one repetition
};

/// The steady state of a step that was run, if it came to one. It has if there are two moments, one repetition's time
/// apart, at which everything stands alike:
/// - whatever has ended at the later moment, its counterpart one repetition earlier had ended at the earlier one;
/// - whatever is under way at the later moment, its counterpart was under way at the earlier one, begun as long before
///   and to end as long after;
/// - the ends of all that is under way come before any lane can feel that the orders are about to stop repeating.
/// What follows depends on nothing else, so from there on each repetition is like the one before it, for as long as the
/// orders repeat: a step of many micro-batches is a short one with more repetitions put in.
/// `period`: of the orders that were run. `most`: at most so many periods are tried as one repetition, the fewest
/// first. One may not do where two transfers meet on a link and one goes first in one period, the other in the next.
/// Nothing is returned where no steady state was seen.
std::optional<SteadyState> steady_state(const Step& step, const sim::Timeline& timeline, const Period& period,
                                        std::uint32_t most);

}  // namespace stepcast::schedules
