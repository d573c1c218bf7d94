#include "schedules/step/trace.h"

#include <fmt/format.h>

namespace stepcast::schedules {
namespace {

std::string name_of(const LaneTask& task) {
  switch (task.activity) {
    case Activity::forward:
      return fmt::format("forward {}.{}", task.micro_batch, task.virtual_stage);
    case Activity::backward:
      return fmt::format("backward {}.{}", task.micro_batch, task.virtual_stage);
    case Activity::weight:
      return fmt::format("weight gradients {}.{}", task.micro_batch, task.virtual_stage);
    case Activity::send:
      return fmt::format("send {}.{}", task.micro_batch, task.virtual_stage);
    case Activity::optimizer:
      return "optimizer";
  }
  return {};
}

}  // namespace

std::vector<Span> spans(const Step& step, const sim::Timeline& timeline) {
  std::vector<Span> out;
  for (const Lane& lane : step.lanes) {
    if (lane.at.tensor != 0 || lane.at.data != 0) continue;
    const auto add = [&](std::uint32_t stream, std::string name, sim::TaskId task) {
      const Time start = timeline.start[sim::index(task)];
      out.push_back({lane.at.stage, stream, std::move(name), start, timeline.finish[sim::index(task)] - start});
    };
    for (const LaneTask& task : lane.tasks) add(0, name_of(task), task.task);
    for (const LaneTraffic& traffic : lane.traffic)
      add(traffic.stream, fmt::format("{} {}", traffic.name, traffic.number), traffic.task);
  }
  return out;
}

}  // namespace stepcast::schedules
