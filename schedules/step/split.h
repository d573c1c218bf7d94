#pragma once

#include "schedules/forecast.h"
#include "schedules/step/step.h"
#include "sim/executor.h"

namespace stepcast::schedules {

/// Where a lane's time went from 0 to the end of the step. The parts add up to `timeline.end` exactly: every stretch of
/// the compute stream is a task or a gap, and a gap belongs to what the task after it waited for last.
TimeSplit split_time(const Lane& lane, const sim::Timeline& timeline);

}  // namespace stepcast::schedules
