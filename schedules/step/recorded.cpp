#include "schedules/step/recorded.h"

#include <array>
#include <string>
#include <string_view>

namespace stepcast::schedules {
namespace {

/// "forward 3", of chunk 1 "forward 3.1"; what belongs to no pass has its name alone.
std::string name_of(const LaneTask& task, bool chunks) {
  static constexpr std::array<std::string_view, 7> kNames{"forward", "backward",  "weight",     "backward",
                                                          "send",    "optimizer", "compression"};
  std::string name(kNames[static_cast<std::size_t>(task.activity)]);
  if (task.activity == Activity::optimizer || task.activity == Activity::compression) return name;
  name += " " + std::to_string(task.micro_batch);
  if (chunks) name += "." + std::to_string(task.virtual_stage);
  return name;
}

}  // namespace

std::shared_ptr<const workload::RecordedProgram> recorded(const StepRun& run, const StepInput& in,
                                                          std::uint32_t steps) {
  workload::RecordedProgram out{.program = run.step.program, .communications = run.communications};
  out.unfolded = in.unfold;
  out.late = in.stragglers != nullptr;
  out.transfers = in.transfers;
  out.slow_node = slow_node(in.scenario);
  out.measure.steps = steps;
  out.names.resize(out.program.tasks());
  const auto name = [&](sim::TaskId task, std::string text) { out.names[sim::index(task)] = std::move(text); };
  for (const Lane& lane : run.step.lanes) {
    for (const LaneTask& task : lane.tasks) name(task.task, name_of(task, run.shape.virtual_stages > 1));
    for (const LaneTraffic& sent : lane.traffic)
      name(sent.task, std::string(sent.name) + " " + std::to_string(sent.number));
    if (!lane.end_of_step) continue;  // then of no lane: the pipeline drains
    workload::StepMeasure::Lap& lap = out.measure.laps.emplace_back();
    if (lane.before_step) lap.before = lane.tasks[*lane.before_step].last;
    lap.last = lane.tasks[*lane.end_of_step].last;
  }
  return std::make_shared<const workload::RecordedProgram>(std::move(out));
}

}  // namespace stepcast::schedules
