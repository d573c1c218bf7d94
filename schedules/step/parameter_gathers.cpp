#include "schedules/step/parameter_gathers.h"

#include <optional>
#include <utility>
#include <vector>

namespace stepcast::schedules {

using sim::TaskId;

ParameterGathers::ParameterGathers(Lanes& lanes, WeightUpdates& updates)
    : lanes_(lanes), updates_(updates), s_(lanes.s) {}

void ParameterGathers::add_pass(std::uint32_t lane, const Pass& pass, const Chunk& chunk, bool sums_gradients) {
  const Lanes::Planned planned_at = lanes_.planned(lane, pass.virtual_stage);
  const DataPlan& plan = planned_at.plan;
  const std::size_t pieces = chunk.pieces.size();
  for (std::size_t i = 0; i < pieces; ++i) {
    const std::size_t at = pass.kind == PassKind::forward ? i : pieces - 1 - i;
    const Piece& piece = chunk.pieces[at];
    const Gathers& gathers = plan.gathers[pass.virtual_stage][at];
    if (pass.kind == PassKind::forward) {
      Stretch forward;
      forward.add(piece, pass.kind);
      add_compute(lane, pass, gathers, std::move(forward));
      continue;
    }
    if (piece.backward.duration == Time{} && piece.trained == 0) continue;
    const auto& sums = plan.buckets[pass.virtual_stage];
    const bool summed = sums_gradients && i < sums.size() && is_last(lanes_.shape, pass.kind);
    const auto sum_after = [&](TaskId done) {
      if (summed) updates_.add_sum(lane, planned_at.leader, sums[i], done);
    };
    Stretch rest;
    if (pass.kind == PassKind::weight) {  // of activations and their gradients alone
      rest.add(piece, pass.kind);
      rest.time = rest.time + lanes_.launch_of_collectives(summed ? 1 : 0);
      sum_after(lanes_.add_compute(lane, pass, rest, true).last);
      continue;
    }
    const bool anew = s_.software.gather_for_recompute && piece.recompute.duration > Time{};
    if (anew) add_compute(lane, pass, gathers, recompute_of(piece));
    rest.add(piece, pass.kind, !anew);
    rest.time = rest.time + lanes_.launch_of_collectives(summed ? 1 : 0);
    sum_after(add_compute(lane, pass, gathers, std::move(rest)));
  }
}

TaskId ParameterGathers::add_compute(std::uint32_t lane, const Pass& pass, const Gathers& gathers, Stretch time) {
  const std::vector<LaneTask>& before = lanes_[lane].tasks;
  const auto back = [&](std::size_t n) {
    return before.size() >= n ? std::optional<TaskId>(before[before.size() - n].last) : std::nullopt;
  };
  std::optional<TaskId> gathered;
  const std::uint32_t keeper = lanes_.groups.leader(lane, pass.virtual_stage);
  const std::size_t ahead = s_.software.launch_blocking ? 1 : 2;
  if (gathers.ahead) gathered = lanes_.collective(lane, keeper, *gathers.ahead, true, back(ahead), "parameters");
  if (gathers.rest) gathered = lanes_.collective(lane, keeper, *gathers.rest, true, back(1), "parameters");
  time.time = lanes_.launch_of_collectives((gathers.ahead ? 1 : 0) + (gathers.rest ? 1 : 0)) + time.time;
  LaneTask& task = lanes_.add_compute(lane, pass, time, true);
  if (!gathered) return task.last;
  if (!task.data) {
    task.data = gathered;
    task.data_is_parameters = true;
  }
  lanes_.step.program.after(task.task, *gathered);
  return task.last;
}

}  // namespace stepcast::schedules
