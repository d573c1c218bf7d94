#include "schedules/step/weight_updates.h"

#include <algorithm>
#include <array>
#include <span>

#include "models/cost/kernel_time.h"
#include "models/cost/optimizer.h"
#include "models/layers/collective_copies.h"
#include "models/layers/frozen.h"
#include "schedules/data_parallel/compression.h"
#include "schedules/pipeline/placement.h"

namespace stepcast::schedules {

using sim::TaskId;

Time update_time(const Scenario& s, const Gpu& gpu, const Held& trained, std::uint32_t copies) {
  const Elementwise copy{OperatorKind::collective_copy, trained.all * gradients_copied_once(s)};
  const KernelCost cost{.gpu = gpu, .software = s.software, .precision = s.training.precision};
  return (copy.bytes > 0 ? cost.time(copy) : Time{}) +
         optimizer_time(gpu, s.software, s.training.optimizer, updated(s, trained, copies));
}

WeightUpdates::WeightUpdates(Lanes& lanes)
    : lanes_(lanes),
      s_(lanes.s),
      copies_(copies(lanes.shape)),
      zero_(s_.data_parallel.zero),
      ties_(lanes.count()),
      last_sums_(lanes.count()),
      tied_sums_(lanes.count()) {}

void WeightUpdates::add_sums(std::uint32_t lane, std::uint32_t virtual_stage) {
  const Lanes::Planned at = lanes_.planned(lane, virtual_stage);
  const TaskId done = lanes_.last_task(lane);
  for (const Declared& bucket : at.plan.buckets[at.virtual_stage]) add_sum(lane, at.leader, bucket, done);
}

void WeightUpdates::add_sum(std::uint32_t lane, std::uint32_t leader, const Declared& sum, TaskId done) {
  const TaskId task = lanes_.collective(lane, leader, sum, false, compressed(lane, sum, done), "gradients");
  last_sums_[lane].push_back(task);
  if (!lanes_.overlaps()) lanes_.block(lane, task);
}

void WeightUpdates::add_whole_sums(std::uint32_t lane) {
  const TaskId done = lanes_.last_task(lane);
  for (const std::uint32_t leader : lanes_.groups.leaders(lane))
    if (const std::optional<Declared>& whole = lanes_.traffic.data[leader].whole)
      last_sums_[lane].push_back(
          lanes_.collective(lane, leader, *whole, false, compressed(lane, *whole, done), "gradients"));
}

TaskId WeightUpdates::compressed(std::uint32_t lane, const Declared& sum, TaskId done) {
  if (!s_.data_parallel.compression.any()) return done;
  const Time alone = compress_time(s_, lanes_.gpu(lane), sum.elements);
  return lanes_.add_kernels(lane, Activity::compression, lanes_.straggling(lane, alone)).task;
}

void WeightUpdates::decompress(std::uint32_t lane, TaskId sum) {
  const double elements = trained_parameters(lanes_.in.blocks, lanes_.in.chunks[lanes_[lane].at.stage]);
  const Time alone = decompress_time(s_, lanes_.gpu(lane), elements, weight_copies(s_.parallelism) * copies_);
  LaneTask& task = lanes_.add_kernels(lane, Activity::compression, lanes_.straggling(lane, alone));
  lanes_.step.program.after(task.task, sum);
  task.data = sum;
}

void WeightUpdates::add_averages() {
  for (std::uint32_t lane = 0; lane < lanes_.count(); ++lane) {
    const std::uint32_t group = lanes_.groups.leader(lane, 0);
    const std::optional<Declared>& whole = lanes_.traffic.data[group].whole;
    if (!whole) continue;
    const TaskId ready = compressed(lane, *whole, lanes_.last_task(lane));
    const TaskId average = lanes_.collective(lane, group, *whole, false, ready, "parameters");
    lanes_[lane].after_compute.push_back(average);
    if (s_.data_parallel.compression.any()) decompress(lane, average);
    lanes_.step.times[index(whole->communication)] = 1.0 / s_.data_parallel.local_steps;
  }
}

void WeightUpdates::add_without_flush(std::uint32_t lane, std::uint32_t micro_batches_done) {
  if (lanes_.several_data_ranks() && !lanes_.overlaps()) add_whole_sums(lane);
  const std::optional<TaskId> embeddings = add_tied_embeddings_beside(lane);
  if (s_.training.optimizer == Optimizer::none && !last_sums_[lane].empty())
    lanes_.block(lane, last_sums_[lane].back());
  add_optimizer(lane, embeddings);
  last_sums_[lane].clear();
  Lane& made = lanes_[lane];
  const std::uint32_t before = lanes_.in.pipeline->measured * micro_batches(s_);
  if (micro_batches_done == before) made.before_step = made.tasks.size() - 1;
  if (micro_batches_done == before + micro_batches(s_)) made.end_of_step = made.tasks.size() - 1;
}

std::optional<TaskId> WeightUpdates::add_tied_embeddings_beside(std::uint32_t lane) {
  const std::uint32_t stage = lanes_[lane].at.stage, tied = lanes_.traffic.tied_stage;
  if (lanes_.traffic.tied_embeddings.empty() || (stage != 0 && stage != tied)) return {};
  const std::uint32_t r = lane % lanes_.groups.replicas();
  const Joined::Turn turn = ties_.next(lane, r, [&] {
    const std::array<sim::StreamId, 2> streams{lanes_.streams(lanes_.groups.lane(r, 0)).parameters,
                                               lanes_.streams(lanes_.groups.lane(r, tied)).parameters};
    return lanes_.transfer(streams, lanes_.traffic.tied_embeddings[r]);
  });
  lanes_.step.program.after(turn.task, lanes_.last_task(lane));
  lanes_.note(lane, {turn.task, 3, "tied embeddings", turn.number});
  // The last stage is as many updates ahead of the first as micro-batches are on their way.
  const std::size_t stale = lanes_.in.pipeline->updates == Updates::each_micro_batch ? lanes_.shape.stages : 1;
  std::vector<TaskId>& sums = tied_sums_[lane];
  sums.push_back(turn.task);
  return sums.size() > stale ? std::optional(sums[sums.size() - 1 - stale]) : std::nullopt;
}

std::vector<std::optional<TaskId>> WeightUpdates::add_tied_embeddings() {
  std::vector<std::optional<TaskId>> of_lane(lanes_.count());
  if (lanes_.traffic.tied_embeddings.empty()) return of_lane;
  for (std::uint32_t r = 0; r < lanes_.groups.replicas(); ++r) {
    const std::array<std::uint32_t, 2> ends{lanes_.groups.lane(r, 0), lanes_.groups.lane(r, lanes_.traffic.tied_stage)};
    const std::array<sim::StreamId, 2> streams{lanes_.streams(ends[0]).data, lanes_.streams(ends[1]).data};
    const TaskId task = lanes_.transfer(streams, lanes_.traffic.tied_embeddings[r]);
    for (const std::uint32_t lane : ends) {
      lanes_.step.program.after(task, lanes_.last_task(lane));
      of_lane[lane] = task;
      lanes_.note(lane, {task, 2, "tied embeddings", 0});
    }
  }
  return of_lane;
}

void WeightUpdates::add_after_flush() {
  if (lanes_.several_data_ranks() && zero_ < 3 && !sums_each_micro_batch(s_) && !lanes_.overlaps())
    for (std::uint32_t lane = 0; lane < lanes_.count(); ++lane) add_whole_sums(lane);
  const std::vector<std::optional<TaskId>> embeddings = add_tied_embeddings();
  for (std::uint32_t lane = 0; lane < lanes_.count(); ++lane) add_optimizer(lane, embeddings[lane]);
}

LaneTask& WeightUpdates::add_update(std::uint32_t lane) {
  const bool on_host = s_.offload.optimizer != Tier::gpu;
  if (on_host && lanes_.simulates_copies()) return lanes_.add_update_on_host(lane);
  const Held trained = trained_held(lanes_.in.blocks, lanes_.in.chunks[lanes_[lane].at.stage]);
  const Time time = on_host ? update_on_host(s_, updated(s_, trained, copies_), *lanes_.in.copies)
                            : lanes_.straggling(lane, update_time(s_, lanes_.gpu(lane), trained, copies_));
  LaneTask& update =
      lanes_.add_kernels(lane, Activity::optimizer, time + schedules::on_host(s_.software, s_.software.host_per_step));
  update.exposed_host = schedules::on_host(s_.software, s_.software.host_per_step);
  return update;
}

void WeightUpdates::add_optimizer(std::uint32_t lane, std::optional<TaskId> embeddings) {
  if (s_.data_parallel.compression.any() && !last_sums_[lane].empty()) {
    decompress(lane, last_sums_[lane].back());
    last_sums_[lane].clear();
  }
  const bool updates = s_.training.optimizer != Optimizer::none;
  if (!updates && last_sums_[lane].empty() && !embeddings) return;
  const std::optional<TaskId> launched = lanes_.launched(lane);
  // Without an update the step still ends when gradients are summed.
  LaneTask& entry = updates ? add_update(lane) : lanes_.add_kernels(lane, Activity::optimizer, {});
  const TaskId task = entry.task;
  if (launched) lanes_.step.program.after(task, *launched);  // which waits for the gradients' norm
  entry.launched = launched;
  if (const std::vector<TaskId>& sums = last_sums_[lane]; !sums.empty()) {
    // They run one after the other, each group's in its own order, so the last one made ends last of its group's.
    for (const TaskId sum : copies_ == 1 ? std::span(sums).last(1) : std::span(sums))
      lanes_.step.program.after(task, sum);
    entry.data = *std::ranges::max_element(sums, {}, [](TaskId sum) { return sim::index(sum); });
  }
  if (embeddings) {
    lanes_.step.program.after(task, *embeddings);
    entry.arrival = *embeddings;
  }
  if (updates && (zero_ == 1 || zero_ == 2) && lanes_.several_data_ranks())
    for (const std::uint32_t leader : lanes_.groups.leaders(lane))
      if (const std::optional<Declared>& spread = lanes_.traffic.data[leader].spread)
        lanes_[lane].after_compute.push_back(
            lanes_.collective(lane, leader, *spread, false, entry.last, "updated parameters"));
}

}  // namespace stepcast::schedules
