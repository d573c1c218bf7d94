#include "schedules/step/split.h"

#include <algorithm>
#include <span>

#include "schedules/results/time_parts.h"

namespace stepcast::schedules {

std::array<GapPart, 3> parts_of_gap(const LaneTask& task, const sim::Timeline& timeline, Time from, Time to) {
  const auto finish = [&](const std::optional<sim::TaskId>& t) {
    return t ? timeline.finish[sim::index(*t)] : Time{-1};
  };
  const auto whole = [&](Time TimeSplit::*of) {
    return std::array{GapPart{of, from, to}, GapPart{of, to, to}, GapPart{of, to, to}};
  };
  const bool beside_last = finish(task.arrival_beside) > finish(task.arrival);
  const std::optional<sim::TaskId>& arrival = beside_last ? task.arrival_beside : task.arrival;
  const Time arrived = finish(arrival), summed = finish(task.data), launched = finish(task.launched);
  if (launched > std::max({arrived, summed, from})) return whole(&TimeSplit::host);
  if (summed >= arrived && summed > from) return whole(&TimeSplit::exposed_data);
  if (arrived <= from) return whole(&TimeSplit::idle);
  const Time sent = std::clamp(timeline.start[sim::index(*arrival)], from, to);
  // Tied embeddings are summed behind the lane's own gradients.
  const Time own = task.activity == Activity::optimizer ? std::clamp(summed, from, sent) : from;
  return {GapPart{&TimeSplit::exposed_data, from, own}, GapPart{&TimeSplit::bubble, own, sent},
          GapPart{&TimeSplit::exposed_pipeline, sent, to}};
}

Time lane_begin(const Lane& lane, const sim::Timeline& timeline) {
  return lane.before_step ? timeline.finish[sim::index(lane.tasks[*lane.before_step].last)] : lane.begins;
}

Time step_begin(const Step& step, const sim::Timeline& timeline) { return lane_begin(step.lanes.front(), timeline); }

Time step_time(const Step& step, const sim::Timeline& timeline) {
  Time longest{};
  for (const Lane& lane : step.lanes) {
    if (!lane.end_of_step) return timeline.end;
    longest =
        std::max(longest, timeline.finish[sim::index(lane.tasks[*lane.end_of_step].last)] - lane_begin(lane, timeline));
  }
  return longest;
}

TimeSplit operator+(const TimeSplit& a, const TimeSplit& b) {
  TimeSplit sum;
  for (const TimePart& part : kTimeParts) sum.*part.time = a.*part.time + b.*part.time;
  for (const TimeDetail& detail : kTimeDetails) sum.*detail.time = a.*detail.time + b.*detail.time;
  return sum;
}

TimeSplit operator*(const TimeSplit& a, std::int64_t n) {
  TimeSplit product;
  for (const TimePart& part : kTimeParts) product.*part.time = a.*part.time * n;
  for (const TimeDetail& detail : kTimeDetails) product.*detail.time = a.*detail.time * n;
  return product;
}

TimeSplit split_tasks(std::span<const LaneTask> tasks, const sim::Timeline& timeline, Time now) {
  TimeSplit split;
  for (const LaneTask& task : tasks) {
    const Time start = timeline.start[sim::index(task.task)], finish = timeline.finish[sim::index(task.last)];
    const Time kernels_end = task.kernels ? timeline.finish[sim::index(*task.kernels)] : finish;
    split.host += task.exposed_host + (finish - kernels_end);
    if (start > now)
      for (const GapPart& part : parts_of_gap(task, timeline, now, start)) {
        split.*part.of += part.to - part.from;
        if (part.of == &TimeSplit::exposed_data && task.data_is_parameters) split.parameters += part.to - part.from;
      }
    switch (task.activity) {
      case Activity::forward:
      case Activity::backward:
      case Activity::weight:
      case Activity::whole_backward: {
        // Slowed by traffic beside it. A flow of days ends as exactly as a double can tell: what it is early by is
        // taken off its compute; of a task with its traffic in it, off that first.
        const Time traffic = kernels_end - start - task.compute - task.exposed_host;
        const auto taken = [&](Time left, Time alone) {
          return task.in_parts ? std::clamp(left, Time{}, alone) : alone;
        };
        const Time copy = taken(traffic, task.exposed_copy), tensor = taken(traffic - copy, task.exposed_tensor);
        const Time beside = traffic - copy - tensor;
        split.compute += task.compute + std::min(beside, Time{});
        split.exposed_tensor += tensor;
        split.offload += copy;
        (task.in_parts && !task.beside_data ? split.exposed_tensor : split.exposed_data) += std::max(beside, Time{});
        break;
      }
      case Activity::send:
        split.exposed_pipeline += finish - start;
        break;
      case Activity::optimizer:
        split.optimizer += finish - start - task.exposed_host;
        break;
      case Activity::compression:
        split.compression += finish - start;
        break;
    }
    now = finish;
  }
  return split;
}

TimeSplit split_time(const Lane& lane, const sim::Timeline& timeline, Time time) {
  const Time from = lane_begin(lane, timeline), end = from + time;
  const std::size_t first = lane.before_step ? *lane.before_step + 1 : 0;
  const std::size_t past = lane.end_of_step ? *lane.end_of_step + 1 : lane.tasks.size();
  const std::span<const LaneTask> tasks = std::span(lane.tasks).subspan(first, past - first);
  TimeSplit split = split_tasks(tasks, timeline, from);
  const Time compute_end = tasks.empty() ? from : timeline.finish[sim::index(tasks.back().last)];
  Time traffic_end = compute_end;
  for (const sim::TaskId task : lane.after_compute)
    traffic_end = std::max(traffic_end, timeline.finish[sim::index(task)]);
  split.exposed_data += traffic_end - compute_end;
  split.parameters += traffic_end - compute_end;
  split.idle += end - traffic_end;
  return split;
}

}  // namespace stepcast::schedules
