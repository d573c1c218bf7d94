#include "schedules/step/critical_path.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <set>
#include <span>
#include <vector>

#include "schedules/step/split.h"

namespace stepcast::schedules {
namespace {

/// What a task of the program is on the path. Tasks of neither kind are moments, and what the host does.
struct OnPath {
  const LaneTask* of_lane = nullptr;         ///< it begins or ends this
  std::optional<Time TimeSplit::*> traffic;  ///< it is traffic beside compute, and counts as this
};

class CriticalPath {
 public:
  CriticalPath(const Step& step, const sim::Timeline& timeline)
      : timeline_(timeline), tasks_(step.program.tasks()), first_before_(step.program.tasks() + 1) {
    for (const Lane& lane : step.lanes) {
      for (const LaneTraffic& traffic : lane.traffic)
        tasks_[sim::index(traffic.task)].traffic =
            kLaneStreams[traffic.stream] == "pipeline" ? &TimeSplit::exposed_pipeline : &TimeSplit::exposed_data;
      for (const LaneTask& task : lane.tasks) {
        for (const sim::TaskId end : {task.task, task.last}) tasks_[sim::index(end)].of_lane = &task;
        if (task.kernels) tasks_[sim::index(*task.kernels)].of_lane = &task;
      }
    }
    list_what_comes_before(step.program.graph().dependencies());
  }

  TimeSplit split() {
    std::vector<std::uint32_t> all(tasks_.size());
    std::iota(all.begin(), all.end(), 0);
    TimeSplit sum;
    Time now = timeline_.end;
    for (std::optional<std::uint32_t> at = last_of(all); at; at = last_of(before_of_begin(*at))) {
      sum.host += now - timeline_.finish[*at];
      sum = sum + time_of(*at);
      now = timeline_.start[begin_of(*at)];
    }
    sum.host += now;
    return sum;
  }

 private:
  void list_what_comes_before(std::span<const sim::TaskGraph::Dependency> dependencies) {
    for (const auto& [earlier, later] : dependencies) ++first_before_[sim::index(later) + 1];
    std::partial_sum(first_before_.begin(), first_before_.end(), first_before_.begin());
    before_.resize(dependencies.size());
    std::vector<std::size_t> next(first_before_.begin(), first_before_.end() - 1);
    for (const auto& [earlier, later] : dependencies) before_[next[sim::index(later)]++] = sim::index(earlier);
  }

  std::span<const std::uint32_t> before(std::uint32_t task) const {
    return std::span(before_).subspan(first_before_[task], first_before_[task + 1] - first_before_[task]);
  }

  bool is_on_path(std::uint32_t task) const { return tasks_[task].of_lane != nullptr || tasks_[task].traffic; }

  /// The task where what ends with `task` begins.
  std::uint32_t begin_of(std::uint32_t task) const {
    return tasks_[task].of_lane != nullptr ? sim::index(tasks_[task].of_lane->task) : task;
  }

  TimeSplit time_of(std::uint32_t task) const {
    const OnPath& is = tasks_[task];
    if (timeline_.start[begin_of(task)] == timeline_.finish[task]) return {};
    if (is.of_lane == nullptr) {
      TimeSplit split;
      split.** is.traffic = timeline_.finish[task] - timeline_.start[task];
      return split;
    }
    LaneTask ended = *is.of_lane;
    if (sim::index(ended.last) != task) ended.kernels.reset();
    ended.last = sim::TaskId{task};
    return split_tasks({&ended, 1}, timeline_, timeline_.start[sim::index(ended.task)]);
  }

  /// All that what ends with `task` comes after. Behind moments stands what these come after.
  std::vector<std::uint32_t> before_of_begin(std::uint32_t task) const {
    std::vector<std::uint32_t> found, open{begin_of(task)};
    std::set<std::uint32_t> moments;
    while (!open.empty()) {
      const std::uint32_t of = open.back();
      open.pop_back();
      for (const std::uint32_t each : before(of)) {
        if (is_on_path(each))
          found.push_back(each);
        else if (timeline_.start[each] == timeline_.finish[each] && moments.insert(each).second)
          open.push_back(each);
      }
    }
    return found;
  }

  /// Of those on the path the one that ends last.
  std::optional<std::uint32_t> last_of(std::span<const std::uint32_t> tasks) const {
    std::optional<std::uint32_t> last;
    for (const std::uint32_t each : tasks) {
      if (!is_on_path(each)) continue;
      const Time finish = timeline_.finish[each];
      if (!last || finish > timeline_.finish[*last] || (finish == timeline_.finish[*last] && each > *last)) last = each;
    }
    return last;
  }

  const sim::Timeline& timeline_;
  std::vector<OnPath> tasks_;
  std::vector<std::size_t> first_before_;  ///< of each task, in `before_`
  std::vector<std::uint32_t> before_;
};

}  // namespace

std::optional<TimeSplit> critical_path(const Step& step, const sim::Timeline& timeline) {
  for (const Lane& lane : step.lanes)
    if (lane.end_of_step) return std::nullopt;
  return CriticalPath(step, timeline).split();
}

}  // namespace stepcast::schedules
