#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "schedules/pipeline/period.h"
#include "schedules/step/step.h"
#include "sim/executor.h"

namespace stepcast::schedules {

/// What a pipeline does again and again once it repeats.
struct SteadyState {
  std::uint32_t periods = 1;         ///< of its orders, that one repetition is
  Time period{};                     ///< what they take together; all that follows is of as many
  std::vector<TimeSplit> split;      ///< by stage
  std::vector<std::uint32_t> times;  ///< by CommunicationId: how often it runs
};

/// Whether a step that was run came to a moment at which everything is as it was one period's time before: what has
/// ended then had ended, of the period before, by the earlier moment; what is under way was under way, begun and to end
/// as long before; and all that is seen before the end of the pipeline can be felt anywhere. What is to come depends on
/// nothing but that, so from there on each period is like the one before, for as long as the orders repeat.
/// `period`: of the orders that were run. `most`: so many of them may be one repetition, since of traffic that meets on
/// links one may go first in one period and the other in the next; the least that is one is taken. Nothing: it was not
/// seen.
std::optional<SteadyState> steady_state(const Step& step, const sim::Timeline& timeline, const Period& period,
                                        std::uint32_t most);

}  // namespace stepcast::schedules
