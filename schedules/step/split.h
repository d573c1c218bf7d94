#pragma once

#include <array>
#include <span>

#include "schedules/results/results.h"
#include "schedules/step/step.h"
#include "sim/executor.h"

namespace stepcast::schedules {

/// How long a step takes: from 0 to the end, or where the pipeline never drains the longest that any lane's measured
/// step takes.
Time step_time(const Step& step, const sim::Timeline& timeline);

/// When the step begins that is drawn: 0, or where the pipeline never drains when the first stage's measured one does.
Time step_begin(const Step& step, const sim::Timeline& timeline);

/// A part of a gap on a lane's compute stream, and what it is counted as.
struct GapPart {
  Time TimeSplit::*of;
  Time from, to;
};

/// A gap before a task: the part in which the awaited transfer was under way is that traffic's, the part before it the
/// other stage's; but before an update what the lane's own gradients took comes first. Any part may be empty.
std::array<GapPart, 3> parts_of_gap(const LaneTask& task, const sim::Timeline& timeline, Time from, Time to);

/// Where a lane's time went in a step of `time`. The parts add up to it exactly: every stretch of the compute stream is
/// a task or a gap, and a gap belongs to what the task after it waited for last.
TimeSplit split_time(const Lane& lane, const sim::Timeline& timeline, Time time);

/// The same of some of a lane's tasks, one after the other, from `begin` to when the last of them has ended.
TimeSplit split_tasks(std::span<const LaneTask> tasks, const sim::Timeline& timeline, Time begin);

/// When a lane's own step begins, which split_time() counts from.
Time lane_begin(const Lane& lane, const sim::Timeline& timeline);

TimeSplit operator+(const TimeSplit& a, const TimeSplit& b);
TimeSplit operator*(const TimeSplit& a, std::int64_t n);

}  // namespace stepcast::schedules
