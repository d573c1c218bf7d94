#include "schedules/step/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "schedules/step/split.h"

namespace stepcast::schedules {
namespace {

std::string name_of(const LaneTask& task) {
  if (task.beside)
    return fmt::format("forward {}.{} & backward {}.{}", task.micro_batch, task.virtual_stage,
                       index(task.beside->micro_batch), task.beside->virtual_stage);
  switch (task.activity) {
    case Activity::forward:
      return fmt::format("forward {}.{}", task.micro_batch, task.virtual_stage);
    case Activity::backward:
    case Activity::whole_backward:
      return fmt::format("backward {}.{}", task.micro_batch, task.virtual_stage);
    case Activity::weight:
      return fmt::format("weight gradients {}.{}", task.micro_batch, task.virtual_stage);
    case Activity::send:
      return fmt::format("send {}.{}", task.micro_batch, task.virtual_stage);
    case Activity::optimizer:
      return "optimizer";
    case Activity::compression:
      return "compression";
  }
  return {};
}

/// The time of one step, of which everything shown is a part.
class Window {
 public:
  Window(const Step& step, const sim::Timeline& timeline)
      : timeline_(timeline), from_(step_begin(step, timeline)), length_(step_time(step, timeline)) {}

  /// What of the task lies in the step, counted from its begin. Nothing: none of it, unless the task takes no time.
  std::optional<std::pair<Time, Time>> of(sim::TaskId first, sim::TaskId last) const {
    const Time start = timeline_.start[sim::index(first)] - from_, finish = timeline_.finish[sim::index(last)] - from_;
    if (finish < Time{} || start > length_) return std::nullopt;
    const std::pair<Time, Time> part{std::max(start, Time{}), std::min(finish, length_)};
    return part.first < part.second || start == finish ? std::optional(part) : std::nullopt;
  }

 private:
  const sim::Timeline& timeline_;
  Time from_, length_;
};

}  // namespace

std::vector<Span> spans(const Step& step, const sim::Timeline& timeline) {
  std::vector<Span> out;
  const Window window(step, timeline);
  for (const Lane& lane : step.lanes) {
    if (!lane.speaks_for_its_stage()) continue;
    const auto add = [&](std::uint32_t stream, std::string name, sim::TaskId task, sim::TaskId last) {
      if (const auto part = window.of(task, last))
        out.push_back({lane.at.stage, stream, std::move(name), part->first, part->second - part->first});
    };
    for (const LaneTask& task : lane.tasks) add(0, name_of(task), task.task, task.last);
    for (const LaneTraffic& traffic : lane.traffic)
      add(traffic.stream, fmt::format("{} {}", traffic.name, traffic.number), traffic.task, traffic.task);
  }
  return out;
}

std::vector<PassSpan> passes(const Step& step, const sim::Timeline& timeline) {
  std::vector<PassSpan> out;
  const Window window(step, timeline);
  for (const Lane& lane : step.lanes) {
    if (!lane.speaks_for_its_stage()) continue;
    const std::size_t first = out.size();
    for (const LaneTask& task : lane.tasks) {
      if (task.activity == Activity::send || task.activity == Activity::compression) continue;
      const auto part = window.of(task.task, task.last);
      if (!part) continue;
      std::optional<Pass> pass;
      if (task.activity != Activity::optimizer)
        pass = Pass{static_cast<PassKind>(task.activity), MicroBatchId{task.micro_batch}, task.virtual_stage};
      if (out.size() > first && out.back().pass == pass)  // cut where its gradients leave
        out.back().duration = part->second - out.back().start;
      else
        out.push_back({lane.at.stage, pass, task.beside, part->first, part->second - part->first});
    }
  }
  return out;
}

std::vector<Arrow> arrows(const Step& step, const sim::Timeline& timeline) {
  constexpr std::uint32_t kCompute = 0, kPipeline = 1;
  const Window window(step, timeline);
  std::unordered_map<std::uint32_t, Arrow> sends;  // by task: where they begin
  for (const Lane& lane : step.lanes) {
    if (!lane.speaks_for_its_stage()) continue;
    const auto add = [&](std::uint32_t stream, sim::TaskId task, sim::TaskId last) {
      if (const auto part = window.of(task, last))
        sends.try_emplace(sim::index(task), Arrow{lane.at.stage, stream, part->first, 0, {}});
    };
    for (const LaneTask& task : lane.tasks)
      if (task.activity == Activity::send) add(kCompute, task.task, task.last);
    for (const LaneTraffic& traffic : lane.traffic)
      if (traffic.stream == kPipeline) add(kPipeline, traffic.task, traffic.task);
  }
  std::vector<Arrow> out;
  for (const Lane& lane : step.lanes) {
    if (!lane.speaks_for_its_stage()) continue;
    for (const LaneTask& task : lane.tasks) {
      const auto received = window.of(task.task, task.last);
      if (!received) continue;
      for (const std::optional<sim::TaskId>& arrival : {task.arrival, task.arrival_beside}) {
        const auto send = arrival ? sends.find(sim::index(*arrival)) : sends.end();
        if (send == sends.end()) continue;
        Arrow& arrow = out.emplace_back(send->second);
        arrow.to_stage = lane.at.stage;
        arrow.received = received->first;
      }
    }
  }
  return out;
}

std::vector<LinkPoint> link_use(const Step& step, const sim::Timeline& timeline,
                                const std::function<double(workload::CommunicationId)>& seconds_of_busiest) {
  const Window window(step, timeline);
  std::map<workload::CommunicationId, double> busy;
  std::vector<LinkPoint> out;
  for (const Lane& lane : step.lanes) {
    if (!lane.speaks_for_its_stage()) continue;
    std::multimap<Time, std::pair<double, bool>> changes;  // when, to which share, and whether it begins
    for (const LaneTraffic& traffic : lane.traffic) {
      const auto part = window.of(traffic.task, traffic.task);
      const auto communication = step.program.communication(traffic.task);
      if (!part || part->first == part->second || !communication) continue;
      const auto [known, fresh] = busy.try_emplace(*communication);
      if (fresh) known->second = seconds_of_busiest(*communication);
      const Time whole = timeline.finish[sim::index(traffic.task)] - timeline.start[sim::index(traffic.task)];
      const double use = std::min(known->second / to_seconds(whole), 1.0);
      changes.insert({part->first, {use, true}});
      changes.insert({part->second, {use, false}});
    }
    std::multiset<double> under_way;
    for (auto change = changes.begin(); change != changes.end();) {
      const Time now = change->first;
      for (; change != changes.end() && change->first == now; ++change) {
        const auto [use, begins] = change->second;
        if (begins)
          under_way.insert(use);
        else
          under_way.erase(under_way.find(use));
      }
      const double use = under_way.empty() ? 0 : *under_way.rbegin();
      const bool goes_on = !out.empty() && out.back().stage == lane.at.stage && out.back().use == use;
      if (!goes_on) out.push_back({lane.at.stage, now, use});
    }
  }
  return out;
}

}  // namespace stepcast::schedules
