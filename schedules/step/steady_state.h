#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "schedules/pipeline/period.h"
#include "schedules/step/step.h"
#include "sim/executor.h"

namespace stepcast::schedules {

/// What one period of a pipeline takes once it repeats.
struct SteadyState {
  Time period{};
  std::vector<TimeSplit> split;      ///< of a period, by stage
  std::vector<std::uint32_t> times;  ///< by CommunicationId: how often it runs in it
};

/// Whether a step that was run came to a moment at which everything is as it was one period's time before: what has
/// ended then had ended, of the period before, by the earlier moment; what is under way was under way, begun and to end
/// as long before; and all that is seen before the end of the pipeline can be felt anywhere. What is to come depends on
/// nothing but that, so from there on each period is like the one before, for as long as the orders repeat.
/// `period`: of the orders that were run. Nothing: it was not seen.
std::optional<SteadyState> steady_state(const Step& step, const sim::Timeline& timeline, const Period& period);

}  // namespace stepcast::schedules
