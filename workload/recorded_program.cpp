#include "workload/recorded_program.h"

#include <algorithm>

#include "workload/flows.h"
#include "workload/run.h"
#include "workload/steady_windows.h"
#include "workload/transfers.h"

namespace stepcast::workload {

sim::Timeline run(const RecordedProgram& recording, const Machine& machine) {
  if (recording.transfers) return run_transfers(recording.program, recording.communications, machine).timeline;
  const Flows flows(machine, recording.communications, {.unfolded = recording.unfolded, .late = recording.late});
  return run(recording.program, flows);
}

Time step_time(const StepMeasure& measure, const sim::Timeline& timeline) {
  const auto finish = [&](sim::TaskId task) { return timeline.finish[sim::index(task)]; };
  if (!measure.updates.empty()) {
    std::vector<std::vector<Time>> updated;
    for (const auto& of_worker : measure.updates) {
      std::vector<Time>& ended = updated.emplace_back();
      for (const std::vector<sim::TaskId>& tasks : of_worker) {
        Time last{};
        for (const sim::TaskId task : tasks) last = std::max(last, finish(task));
        ended.push_back(last);
      }
    }
    return steady_step(steady_windows(updated));
  }
  if (measure.laps.empty()) return {timeline.end.value / measure.steps};
  Time longest{};
  for (const StepMeasure::Lap& lap : measure.laps)
    longest = std::max(longest, finish(lap.last) - (lap.before ? finish(*lap.before) : Time{}));
  return longest;
}

}  // namespace stepcast::workload
