#include "schedules/step/split.h"

#include <algorithm>

namespace stepcast::schedules {
namespace {

/// A gap before a task: the part in which the awaited transfer was under way is that traffic's, the part before it the
/// other stage's.
void add_gap(TimeSplit& split, const LaneTask& task, const sim::Timeline& timeline, Time from, Time to) {
  const auto finish = [&](const std::optional<sim::TaskId>& t) {
    return t ? timeline.finish[sim::index(*t)] : Time{-1};
  };
  const Time arrived = finish(task.arrival), summed = finish(task.data);
  if (summed >= arrived && summed > from) {
    split.exposed_data += to - from;
  } else if (arrived > from) {
    const Time sent = std::clamp(timeline.start[sim::index(*task.arrival)], from, to);
    split.bubble += sent - from;
    split.exposed_pipeline += to - sent;
  } else {
    split.idle += to - from;
  }
}

}  // namespace

TimeSplit split_time(const Lane& lane, const sim::Timeline& timeline) {
  TimeSplit split;
  Time now{};
  for (const LaneTask& task : lane.tasks) {
    const Time start = timeline.start[sim::index(task.task)], finish = timeline.finish[sim::index(task.task)];
    if (start > now) add_gap(split, task, timeline, now, start);
    switch (task.activity) {
      case Activity::forward:
      case Activity::backward:
      case Activity::weight:
        split.compute += task.compute;
        split.exposed_tensor += task.exposed_tensor;
        split.exposed_data += finish - start - task.compute - task.exposed_tensor;  // slowed by traffic beside it
        break;
      case Activity::send:
        split.exposed_pipeline += finish - start;
        break;
      case Activity::optimizer:
        split.optimizer += finish - start;
        break;
    }
    now = finish;
  }
  Time traffic_end = now;
  for (const sim::TaskId task : lane.after_compute)
    traffic_end = std::max(traffic_end, timeline.finish[sim::index(task)]);
  split.exposed_data += traffic_end - now;
  split.idle += timeline.end - traffic_end;
  return split;
}

}  // namespace stepcast::schedules
