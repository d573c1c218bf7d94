#include "schedules/step/steady_state.h"

#include <algorithm>
#include <limits>
#include <span>

#include "schedules/step/split.h"

namespace stepcast::schedules {
namespace {

/// Parameters of a pass may be gathered from when the task before the one before it has ended. Two passes that run
/// together are one task, so that one is no more than four passes back.
constexpr std::size_t kLooksAhead = 4;
/// And the host may launch a pass from when the one has ended that it waits for, so many passes back.
std::size_t looks_ahead(const Lane& lane) { return kLooksAhead + lane.passes_back; }

/// Passes of a lane that repeat: [first, end) of Lane::passes.
struct Middle {
  std::size_t first = 0, end = 0, of_period = 0;
};

class Search {
 public:
  Search(const Step& step, const sim::Timeline& timeline) : step_(step), ran_(timeline) {}

  /// With so many periods as one.
  std::optional<SteadyState> find(const Period& period, std::uint32_t periods) {
    for (const Lane& lane : step_.lanes) {
      const Period::OfStage& stage = period.stages[lane.at.stage];
      middles_.push_back(middle_of(lane, stage, periods));
      const Middle& middle = middles_.back();
      if (middle.end < middle.first + 2 * middle.of_period + looks_ahead(lane)) return std::nullopt;
      felt_ = std::min(felt_, begin(lane, middle.end - looks_ahead(lane)));
    }
    if (!measure_period() || !settle() || !all_seen()) return std::nullopt;
    SteadyState steady{periods, period_, std::vector<TimeSplit>(period.stages.size()),
                       std::vector<std::uint32_t>(step_.times.size(), 0)};
    for (std::size_t l = 0; l < step_.lanes.size(); ++l) {
      count_communications(l, steady.times);
      if (step_.lanes[l].speaks_for_its_stage() && !split(l, steady.split[step_.lanes[l].at.stage]))
        return std::nullopt;
    }
    return steady;
  }

 private:
  Time start(std::uint32_t task) const { return ran_.start[task]; }
  Time finish(std::uint32_t task) const { return ran_.finish[task]; }
  Time start(const LaneTask& task) const { return start(sim::index(task.task)); }
  Time finish(const LaneTask& task) const { return finish(sim::index(task.last)); }

  /// When a pass begins.
  Time begin(const Lane& lane, std::size_t pass) const { return start(lane.tasks[lane.passes[pass].lane_task]); }

  /// The longest end of what the orders repeat in which the tasks of every pass are those of the one a period before.
  /// At first they may not be: the host is not yet ahead, say.
  Middle middle_of(const Lane& lane, const Period::OfStage& stage, std::uint32_t periods) const {
    Middle middle{0, std::min(stage.end, lane.flushes), stage.passes * periods};
    if (middle.end < stage.first + middle.of_period) return {middle.end, middle.end, middle.of_period};
    middle.first = middle.end - middle.of_period;
    while (middle.first > stage.first && alike(lane, middle.first - 1, middle.first - 1 + middle.of_period))
      --middle.first;
    return middle;
  }

  /// Whether two passes are tasks that do the same.
  bool alike(const Lane& lane, std::size_t pass, std::size_t other) const {
    const std::vector<PassBegin>& passes = lane.passes;
    std::uint32_t task = passes[pass].task, image = passes[other].task;
    const std::uint32_t end = passes[pass + 1].task;
    if (passes[other + 1].task - image != end - task) return false;
    for (; task < end; ++task, ++image)
      if (!step_.program.alike(sim::TaskId{task}, sim::TaskId{image})) return false;
    return true;
  }

  /// By the last pass of the first lane that is seen to end.
  bool measure_period() {
    const Lane& lane = step_.lanes.front();
    const Middle& middle = middles_.front();
    std::size_t last = middle.end - 1;
    while (last >= middle.first + middle.of_period && begin(lane, last) >= felt_) --last;
    if (last < middle.first + middle.of_period) return false;
    period_ = begin(lane, last) - begin(lane, last - middle.of_period);
    return period_ > Time{};
  }

  /// Every task of a lane's middle that has an image one period later, and the image. False where `visit` is.
  template <class Visit>
  bool each_pair(const Visit& visit) const {
    for (std::size_t l = 0; l < step_.lanes.size(); ++l) {
      const std::vector<PassBegin>& passes = step_.lanes[l].passes;
      const Middle& middle = middles_[l];
      std::uint32_t task = passes[middle.first].task, image = passes[middle.first + middle.of_period].task;
      const std::uint32_t end = passes[middle.end - middle.of_period].task;
      for (; task < end; ++task, ++image)
        if (!visit(task, image)) return false;
    }
    return true;
  }

  /// Moves settled_ to where all tasks that end later end one period after the one that they are the image of.
  bool settle() {
    for (std::size_t l = 0; l < step_.lanes.size(); ++l) {
      const std::vector<PassBegin>& passes = step_.lanes[l].passes;
      const Middle& middle = middles_[l];
      for (std::uint32_t task = passes.front().task; task < passes[middle.first].task; ++task)
        settled_ = std::max(settled_, finish(task) + period_);
      for (std::uint32_t task = passes[middle.first].task; task < passes[middle.first + middle.of_period].task; ++task)
        settled_ = std::max(settled_, finish(task));
    }
    return settled_ < felt_ && each_pair([&](std::uint32_t task, std::uint32_t image) {
             const Time expected = finish(task) + period_, seen = finish(image);
             if (expected == seen && start(task) + period_ == start(image)) return true;
             if (std::min(expected, seen) >= felt_) return true;
             settled_ = std::max({settled_, expected, seen});
             return settled_ < felt_;
           });
  }

  /// Whether all that is under way when it has settled, and was a period before, is seen to end.
  bool all_seen() const {
    for (std::size_t l = 0; l < step_.lanes.size(); ++l) {
      const Middle& middle = middles_[l];
      const std::size_t without_image = middle.end - middle.of_period;
      if (begin(step_.lanes[l], without_image - looks_ahead(step_.lanes[l])) + period_ <= settled_) return false;
    }
    return each_pair([&](std::uint32_t task, std::uint32_t image) {
      if (std::min(start(task) + period_, start(image)) > settled_) return true;
      return std::max(finish(task) + period_, finish(image)) < felt_;
    });
  }

  void count_communications(std::size_t l, std::vector<std::uint32_t>& times) const {
    const std::vector<PassBegin>& passes = step_.lanes[l].passes;
    const Middle& middle = middles_[l];
    const std::vector<std::uint32_t> of_lane =
        step_.program.times(passes[middle.first].task, passes[middle.first + middle.of_period].task);
    for (std::size_t i = 0; i < std::min(times.size(), of_lane.size()); ++i) times[i] += of_lane[i];
  }

  /// Of a period of a lane, from the first task on that ends when all has settled.
  bool split(std::size_t l, TimeSplit& out) const {
    const Lane& lane = step_.lanes[l];
    const Middle& middle = middles_[l];
    const std::size_t of_period =
        lane.passes[middle.first + middle.of_period].lane_task - lane.passes[middle.first].lane_task;
    std::size_t first = lane.passes[middle.first].lane_task;
    const std::size_t end = lane.passes[middle.end].lane_task;
    while (first < end && finish(lane.tasks[first]) + period_ <= settled_) ++first;
    if (first + of_period >= end || finish(lane.tasks[first]) + period_ >= felt_) return false;
    out = split_tasks(std::span(lane.tasks).subspan(first + 1, of_period), ran_, finish(lane.tasks[first]));
    return out.sum() == period_;
  }

  const Step& step_;
  const sim::Timeline& ran_;
  std::vector<Middle> middles_;                          // by lane
  Time felt_{std::numeric_limits<std::int64_t>::max()};  // from here on the end of the pipeline may be felt
  Time period_{};
  Time settled_{};  // at this time all is as it was a period before
};

}  // namespace

std::optional<SteadyState> steady_state(const Step& step, const sim::Timeline& timeline, const Period& period,
                                        std::uint32_t most) {
  for (std::uint32_t periods = 1; periods <= most; ++periods)
    if (std::optional<SteadyState> steady = Search(step, timeline).find(period, periods)) return steady;
  return std::nullopt;
}

}  // namespace stepcast::schedules
