#pragma once

#include <optional>

#include "schedules/results/results.h"
#include "schedules/step/step.h"
#include "sim/executor.h"

namespace stepcast::schedules {

/// Where the time of the step's critical path goes. The path begins with what ends last; before each part of it comes,
/// of all that the part waited for, what ended last, back to the step's begin. The parts add up to the step. A pass on
/// the path counts whole: its kernels, the traffic inside its layers, and where it ends late because of the host, that.
/// Where a pass begins later than all kernels and traffic that it waits for have ended, the host launches it late. Of
/// two that end at once the one made later is taken. Nothing where the pipeline never drains. Needs a step built with
/// `trace`. O(tasks + dependencies).
std::optional<TimeSplit> critical_path(const Step& step, const sim::Timeline& timeline);

}  // namespace stepcast::schedules
