#include "schedules/step/memory_trace.h"

#include <algorithm>
#include <iterator>

#include "schedules/step/split.h"

namespace stepcast::schedules {
namespace {

PassKind kind(const LaneTask& task) { return static_cast<PassKind>(task.activity); }

void begin(HeldActivations& held, const LaneTask& task) {
  if (task.beside) return held.begin_together(task.virtual_stage, *task.beside);
  held.begin(kind(task), task.virtual_stage);
}

void end(HeldActivations& held, const LaneTask& task) {
  if (task.beside) return held.end_together(task.virtual_stage, *task.beside);
  held.end(kind(task), task.virtual_stage);
}

bool is_pass(const LaneTask& task) { return task.activity <= Activity::whole_backward; }

/// Whether both are of one pass, cut where its gradients leave.
bool of_one_pass(const LaneTask& a, const LaneTask& b) {
  return a.activity == b.activity && a.micro_batch == b.micro_batch && a.virtual_stage == b.virtual_stage;
}

}  // namespace

std::vector<MemoryPoint> memory_points(const Step& step, const sim::Timeline& timeline, const Shape& shape,
                                       std::span<const ActivationSizes> sizes, std::span<const StageReport> reports) {
  std::vector<MemoryPoint> out;
  const Time from = step_begin(step, timeline), length = step_time(step, timeline);
  for (const Lane& lane : step.lanes) {
    if (!lane.speaks_for_its_stage()) continue;
    const std::uint32_t stage = lane.at.stage;
    const Bytes state = reports[stage].memory.peak() - reports[stage].memory.activations;
    const std::size_t first = out.size();
    HeldActivations held(shape, sizes[stage]);
    out.push_back({stage, {}, state, held.bytes()});
    const auto add = [&](Time at, Bytes activations) {
      if (at > from + length) return;
      if (at < from)  // already there when the step begins
        out.back().activations = activations;
      else if (out.size() > first + 1 && out.back().at == at - from)
        out.back().activations = activations;
      else
        out.push_back({stage, at - from, state, activations});
    };
    std::vector<LaneTask> passes;
    std::ranges::copy_if(lane.tasks, std::back_inserter(passes), is_pass);
    for (std::size_t i = 0; i < passes.size(); ++i) {
      if (i == 0 || !of_one_pass(passes[i - 1], passes[i])) {
        begin(held, passes[i]);
        add(timeline.start[sim::index(passes[i].task)], held.bytes());
      }
      if (i + 1 == passes.size() || !of_one_pass(passes[i], passes[i + 1])) {
        end(held, passes[i]);
        add(timeline.finish[sim::index(passes[i].last)], held.bytes());
      }
    }
    if (out.back().at < length) out.push_back({stage, length, state, out.back().activations});
  }
  return out;
}

}  // namespace stepcast::schedules
