#include "schedules/step/step.h"

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <utility>

#include "schedules/cost/optimizer.h"
#include "schedules/data_parallel/compression.h"
#include "schedules/data_parallel/groups.h"
#include "schedules/model/frozen.h"
#include "schedules/pipeline/placement.h"
#include "schedules/step/joined.h"
#include "schedules/step/lane_groups.h"
#include "schedules/step/traffic.h"

namespace stepcast::schedules {
namespace {

using sim::TaskId;

constexpr std::uint32_t kNever = 0xffffffffu;

class Builder {
 public:
  Builder(const StepInput& in, Wires& wires)
      : in_(in),
        s_(in.scenario),
        wires_(wires),
        shape_(in.pipeline.shape),
        stages_(shape_.stages),
        chunks_(chunks(shape_)),
        groups_(shape_, in.ranks, in.unfold),
        replicas_(groups_.replicas()),
        micro_batches_(shape_.micro_batches),
        overlap_(in.exchange == Exchange::gradients && data_overlap(s_)),
        drains_(in.pipeline.updates == Updates::after_flush),
        zero_(s_.data_parallel.zero) {}

  Step build() {
    make_lanes();
    traffic_ = declare_traffic(in_, step_.lanes, wires_);
    step_.wire_times.assign(wires_.count(), 0);
    for (std::uint32_t lane = 0; lane < step_.lanes.size(); ++lane) add_passes(lane);
    connect_passes();
    if (drains_) add_gradient_sums();
    if (in_.exchange == Exchange::parameters && s_.parallelism.data > 1) add_averages();
    return std::move(step_);
  }

 private:
  struct Streams {
    sim::StreamId compute{}, pipeline{}, data{}, parameters{};
    sim::ResourceId engine{};
    sim::RouteId work{};  ///< compute that traffic may slow
  };

  void make_lanes() {
    const std::size_t passes = std::size_t{2} * micro_batches_ * chunks_ * replicas_;
    step_.graph.reserve(2 * passes, 4 * passes);
    for (std::uint32_t lane = 0; lane < stages_ * replicas_; ++lane) {
      const Coordinate at = groups_.at(lane);
      Lane& made = step_.lanes.emplace_back(Lane{at, {}, {}, {}});
      made.tasks.reserve(in_.pipeline.orders[at.stage].size() * 2 + 4);
      Streams streams{step_.graph.add_stream(),
                      step_.graph.add_stream(),
                      step_.graph.add_stream(),
                      step_.graph.add_stream(),
                      {},
                      {}};
      if (slowed()) {
        streams.engine = step_.graph.add_resource({kPicosecondsPerSecond});
        streams.work = step_.graph.add_route({{{streams.engine, 1.0}}, {}, {kPicosecondsPerSecond}, 1.0});
      }
      if (!in_.begins.empty()) {
        step_.graph.work(streams.compute, in_.begins[at.data]);
        made.begins = in_.begins[at.data];
      }
      streams_.push_back(streams);
    }
    first_of_pass_.assign(passes, kNever);
    send_of_pass_.assign(passes, kNever);
    lane_task_of_pass_.assign(passes, kNever);
  }

  /// Whether the stages before a place are sent gradients.
  bool trains(Place at) const { return goes_backward(in_.blocks, in_.chunks[at.stage][at.virtual_stage]); }
  static bool trains(const Chunk& chunk) {
    return std::ranges::any_of(chunk.pieces, [](const Piece& piece) { return piece.trained > 0; });
  }

  bool several_data_ranks() const {
    return in_.exchange == Exchange::gradients && weight_copies(s_.parallelism) * copies(shape_) > 1;
  }
  bool overlaps() const { return overlap_ && several_data_ranks(); }
  bool slowed() const { return overlaps() && s_.software.overlap_slowdown > 0; }

  sim::RouteId route(Declared& declared, std::span<const sim::ResourceId> engines) {
    if (!declared.route)
      declared.route = wires_.route(step_.graph, declared.wire, engines, slowed() ? s_.software.overlap_slowdown : 0);
    return *declared.route;
  }

  void count(WireId wire) { ++step_.wire_times[static_cast<std::size_t>(wire)]; }

  /// Passes of one replica are numbered (kind, micro-batch, model chunk).
  std::size_t number(std::uint32_t replica, PassKind kind, std::uint32_t micro_batch, std::uint32_t chunk) const {
    const std::size_t half = kind == PassKind::forward ? 0 : 1;
    return ((replica * std::size_t{2} + half) * micro_batches_ + micro_batch) * chunks_ + chunk;
  }

  /// A lane's next task on its own GPU.
  template <class PassTimeOrTime>
  PassTimeOrTime straggling(std::uint32_t lane, const PassTimeOrTime& time) const {
    if (in_.stragglers == nullptr) return time;
    return in_.stragglers->slowed(step_.lanes[lane].at, step_.lanes[lane].tasks.size(), time);
  }

  /// A stretch of compute on a lane. `disturbed`: traffic runs beside it and may slow it.
  LaneTask& add_compute(std::uint32_t lane, const Pass& pass, const PassTime& undisturbed, bool disturbed) {
    const Streams& streams = streams_[lane];
    const PassTime time = straggling(lane, undisturbed);
    const TaskId task = disturbed && slowed()
                            ? step_.graph.transfer(streams.compute, streams.work, {time.duration.value})
                            : step_.graph.work(streams.compute, time.duration);
    LaneTask& entry = step_.lanes[lane].tasks.emplace_back(LaneTask{task,
                                                                    static_cast<Activity>(pass.kind),
                                                                    index(pass.micro_batch),
                                                                    pass.virtual_stage,
                                                                    time.compute,
                                                                    time.exposed_tensor,
                                                                    {},
                                                                    {}});
    entry.exposed_copy = time.exposed_copy;
    if (const auto sum = blocked_by_.find(lane); sum != blocked_by_.end()) {
      step_.graph.after(task, sum->second);
      entry.data = sum->second;
      blocked_by_.erase(sum);
    }
    return entry;
  }

  /// After so many micro-batches' gradients a virtual stage's weights change.
  std::uint32_t micro_batches_an_update(std::uint32_t virtual_stage) const {
    switch (in_.pipeline.updates) {
      case Updates::after_flush:
        return copies(shape_) == 1 ? micro_batches_ : (micro_batches_ + (virtual_stage == 0 ? 1 : 0)) / 2;
      case Updates::each_step:
        return micro_batches(s_);
      case Updates::each_micro_batch:
        return 1;
    }
    return micro_batches_;
  }

  void add_passes(std::uint32_t lane) {
    const StageOrder& order = in_.pipeline.orders[step_.lanes[lane].at.stage];
    std::vector<std::uint32_t> made(shape_.virtual_stages, 0);
    bool reducing = false;
    for (std::size_t i = 0; i < order.size(); ++i) {
      const Pass& pass = order[i];
      const Pass* beside = pass.with_next ? &order[++i] : nullptr;
      const Pass& back = beside != nullptr ? *beside : pass;
      const bool makes_gradients = is_last(shape_, back.kind);
      if (makes_gradients) ++made[back.virtual_stage];
      const bool last_gradients =
          makes_gradients && made[back.virtual_stage] % micro_batches_an_update(back.virtual_stage) == 0;
      const Chunk& chunk = traffic_.data[lane].chunks[pass.virtual_stage];
      const auto first_task = static_cast<std::uint32_t>(step_.lanes[lane].tasks.size());
      if (beside != nullptr) {
        add_pair(lane, pass, *beside, reducing);
        if (several_data_ranks() && overlap_ && last_gradients &&
            trains(traffic_.data[lane].chunks[back.virtual_stage])) {
          add_sums(lane, beside->virtual_stage);
          reducing = true;
        }
      } else if (several_data_ranks() && zero_ == 3 && (pass.kind == PassKind::forward || trains(chunk))) {
        add_gathered_pass(lane, pass, chunk);
      } else if (several_data_ranks() && makes_gradients && (zero_ == 2 || (overlap_ && last_gradients)) &&
                 trains(chunk)) {
        add_bucketed_backward(lane, pass, chunk);
        reducing = drains_;
      } else {
        add_compute(lane, pass, time_of(chunk, pass.kind), reducing);
      }
      pass_is_made(lane, pass, first_task);
      if (beside != nullptr) pass_is_made(lane, *beside, first_task);
      if (!drains_ && last_gradients) update_without_flush(lane, made[back.virtual_stage]);
    }
  }

  /// The pass begins with the lane's task `first_task`; what it makes is sent on.
  void pass_is_made(std::uint32_t lane, const Pass& pass, std::uint32_t first_task) {
    if (pass.kind == PassKind::weight) return;  // nobody waits for it
    const ModelChunk at = held(shape_, {step_.lanes[lane].at.stage, pass.virtual_stage});
    const std::size_t n = number(lane % replicas_, pass.kind, index(pass.micro_batch), at.chunk);
    first_of_pass_[n] = sim::index(step_.lanes[lane].tasks[first_task].task);
    lane_task_of_pass_[n] = first_task;
    add_send(lane, pass, n);
  }

  /// A forward and a backward at once.
  void add_pair(std::uint32_t lane, const Pass& forward, const Pass& backward, bool disturbed) {
    const std::vector<Chunk>& chunks = traffic_.data[lane].chunks;
    const PassTime time = together(time_of(chunks[forward.virtual_stage], forward.kind),
                                   time_of(chunks[backward.virtual_stage], backward.kind));
    add_compute(lane, forward, time, disturbed).beside = backward;
  }

  /// To the stage that the next chunk is on, if it is another one.
  void add_send(std::uint32_t lane, const Pass& pass, std::size_t n) {
    const std::uint32_t stage = step_.lanes[lane].at.stage;
    const bool forward = pass.kind == PassKind::forward;
    const std::optional<Place> to = next_place(shape_, {stage, pass.virtual_stage}, forward);
    if (!to || to->stage == stage || (!forward && !trains(*to))) return;
    Declared& send = traffic_.sends[lane][forward == goes_down(shape_, pass.virtual_stage) ? 0 : 1];
    const bool beside = s_.software.pipeline_overlap;
    const TaskId done = step_.lanes[lane].tasks.back().task;
    const TaskId task = step_.graph.transfer(beside ? streams_[lane].pipeline : streams_[lane].compute, route(send, {}),
                                             wires_.amount(send.wire));
    count(send.wire);
    send_of_pass_[n] = sim::index(task);
    if (beside)
      step_.graph.after(task, done);
    else
      step_.lanes[lane].tasks.push_back(
          {task, Activity::send, index(pass.micro_batch), pass.virtual_stage, {}, {}, {}, {}});
    if (in_.trace)
      step_.lanes[lane].traffic.push_back(
          {task, 1, pass.kind == PassKind::forward ? "activation" : "gradient", index(pass.micro_batch)});
  }

  /// The group's next collective, after `ready` (if any).
  TaskId collective(std::uint32_t lane, std::uint32_t leader, Declared& declared, bool parameters,
                    std::optional<TaskId> ready, std::string_view name) {
    const Joined::Turn turn = (parameters ? gathers_ : sums_).next(lane, leader, [&] {
      std::vector<sim::StreamId> streams;
      std::vector<sim::ResourceId> engines;
      for (const std::uint32_t member : groups_.members(leader)) {
        streams.push_back(parameters ? streams_[member].parameters : streams_[member].data);
        engines.push_back(streams_[member].engine);
      }
      count(declared.wire);
      return step_.graph.transfer(streams, route(declared, engines), wires_.amount(declared.wire));
    });
    if (ready) step_.graph.after(turn.task, *ready);
    if (in_.trace) step_.lanes[lane].traffic.push_back({turn.task, parameters ? 3u : 2u, name, turn.number});
    return turn.task;
  }

  /// A virtual stage's traffic: its plan, and which of the plan's virtual stages it is.
  struct Planned {
    std::uint32_t leader = 0;
    DataPlan& plan;
    std::uint32_t virtual_stage = 0;
  };
  Planned planned(std::uint32_t lane, std::uint32_t virtual_stage) {
    const std::uint32_t keeper = groups_.leader(lane, virtual_stage);
    return {keeper, traffic_.data[keeper], copies(shape_) == 1 ? virtual_stage : 0};
  }

  /// Backward in pieces, each bucket summed as soon as its gradients are there.
  void add_bucketed_backward(std::uint32_t lane, const Pass& pass, const Chunk& chunk) {
    const Planned at = planned(lane, pass.virtual_stage);
    const auto& ends = at.plan.bucket_ends[at.virtual_stage];
    std::size_t back = 0;
    for (std::size_t b = 0; b < ends.size(); ++b) {
      PassTime time;
      for (; back <= ends[b]; ++back) time = time + time_of(chunk.pieces[chunk.pieces.size() - 1 - back], pass.kind);
      const TaskId done = add_compute(lane, pass, time, true).task;
      add_sum(lane, at.leader, at.plan.buckets[at.virtual_stage][b], done);
    }
    PassTime rest;  // what has no parameters, or frozen ones
    for (; back < chunk.pieces.size(); ++back) {
      rest = rest + time_of(chunk.pieces[chunk.pieces.size() - 1 - back], pass.kind);
    }
    if (rest.duration > Time{}) add_compute(lane, pass, rest, true);
  }

  /// Every bucket of a virtual stage, once the lane's last task has ended.
  void add_sums(std::uint32_t lane, std::uint32_t virtual_stage) {
    const Planned at = planned(lane, virtual_stage);
    const TaskId done = step_.lanes[lane].tasks.back().task;
    for (Declared& bucket : at.plan.buckets[at.virtual_stage]) add_sum(lane, at.leader, bucket, done);
  }

  /// The sum of gradients that are there once `done` has ended; without overlap the lane's compute waits for it.
  void add_sum(std::uint32_t lane, std::uint32_t leader, Declared& sum, TaskId done) {
    const TaskId task = collective(lane, leader, sum, false, compressed(lane, sum, done), "gradients");
    last_sums_[lane].push_back(task);
    if (!overlap_) blocked_by_[lane] = task;
  }

  /// Without overlap: one sum of all gradients of each group.
  void add_whole_sums(std::uint32_t lane) {
    const TaskId done = step_.lanes[lane].tasks.back().task;
    for (const std::uint32_t leader : groups_.leaders(lane))
      if (std::optional<Declared>& whole = traffic_.data[leader].whole)
        last_sums_[lane].push_back(
            collective(lane, leader, *whole, false, compressed(lane, *whole, done), "gradients"));
  }

  /// When what is to be summed may leave, once its gradients are there.
  TaskId compressed(std::uint32_t lane, const Declared& sum, TaskId done) {
    if (!s_.data_parallel.compression.any()) return done;
    return add_kernels(lane, compress_time(s_, gpu(lane), sum.elements)).task;
  }

  /// Turns the sum that came last into gradients.
  void decompress(std::uint32_t lane, TaskId sum) {
    const double elements = trained_parameters(in_.blocks, in_.chunks[step_.lanes[lane].at.stage]);
    LaneTask& task =
        add_kernels(lane, decompress_time(s_, gpu(lane), elements, weight_copies(s_.parallelism) * copies(shape_)));
    step_.graph.after(task.task, sum);
    task.data = sum;
  }

  LaneTask& add_kernels(std::uint32_t lane, Time alone) {
    const Time duration = straggling(lane, alone);
    const TaskId task = step_.graph.work(streams_[lane].compute, duration);
    return step_.lanes[lane].tasks.emplace_back(LaneTask{task, Activity::compression, 0, 0, duration, {}, {}, {}});
  }

  const Gpu& gpu(std::uint32_t lane) const { return gpu_of(s_.cluster, in_.ranks.gpu(step_.lanes[lane].at)); }

  /// Local SGD: after the update every group averages its parameters.
  void add_averages() {
    for (std::uint32_t lane = 0; lane < step_.lanes.size(); ++lane) {
      const std::uint32_t group = groups_.leader(lane, 0);
      std::optional<Declared>& whole = traffic_.data[group].whole;
      if (!whole) continue;
      const TaskId ready = compressed(lane, *whole, step_.lanes[lane].tasks.back().task);
      const TaskId average = collective(lane, group, *whole, false, ready, "parameters");
      step_.lanes[lane].after_compute.push_back(average);
      if (s_.data_parallel.compression.any()) decompress(lane, average);
      step_.wire_times[static_cast<std::size_t>(whole->wire)] = 1.0 / s_.data_parallel.local_steps;
    }
  }

  /// The lane's weights change while others go on. Its compute waits for its group's sum, not for the tied embeddings':
  /// each end takes the other's share when it comes, as stale as its weights are.
  void update_without_flush(std::uint32_t lane, std::uint32_t micro_batches_done) {
    if (several_data_ranks() && !overlap_) add_whole_sums(lane);
    add_tied_embeddings_beside(lane);
    if (s_.training.optimizer == Optimizer::none && !last_sums_[lane].empty())
      blocked_by_[lane] = last_sums_[lane].back();
    add_optimizer(lane, {});
    last_sums_[lane].clear();
    Lane& made = step_.lanes[lane];
    const std::uint32_t before = in_.pipeline.measured * micro_batches(s_);
    if (micro_batches_done == before) made.before_step = made.tasks.size() - 1;
    if (micro_batches_done == before + micro_batches(s_)) made.end_of_step = made.tasks.size() - 1;
  }

  void add_tied_embeddings_beside(std::uint32_t lane) {
    const std::uint32_t stage = step_.lanes[lane].at.stage, r = lane % replicas_;
    if (traffic_.tied_embeddings.empty() || (stage != 0 && stage != stages_ - 1)) return;
    const Joined::Turn turn = ties_.next(lane, r, [&] {
      const std::array<sim::StreamId, 2> streams{streams_[groups_.lane(r, 0)].parameters,
                                                 streams_[groups_.lane(r, stages_ - 1)].parameters};
      Declared& tied = traffic_.tied_embeddings[r];
      count(tied.wire);
      return step_.graph.transfer(streams, route(tied, {}), wires_.amount(tied.wire));
    });
    step_.graph.after(turn.task, step_.lanes[lane].tasks.back().task);
    if (in_.trace) step_.lanes[lane].traffic.push_back({turn.task, 3, "tied embeddings", turn.number});
  }

  /// ZeRO 3: each piece's parameters are gathered before it runs, for forward and backward anew, and again between
  /// recomputation and backward where the software lets go of them; gradients leave piece by piece.
  void add_gathered_pass(std::uint32_t lane, const Pass& pass, const Chunk& chunk) {
    const Planned planned_at = planned(lane, pass.virtual_stage);
    DataPlan& plan = planned_at.plan;
    const std::size_t pieces = chunk.pieces.size();
    for (std::size_t i = 0; i < pieces; ++i) {
      const std::size_t at = pass.kind == PassKind::forward ? i : pieces - 1 - i;
      const Piece& piece = chunk.pieces[at];
      Gathers& gathers = plan.gathers[pass.virtual_stage][at];
      if (pass.kind == PassKind::forward) {
        add_gathered_compute(lane, pass, gathers, piece.forward);
        continue;
      }
      if (piece.backward.duration == Time{}) continue;
      const auto sum_after = [&](TaskId done) {
        auto& sums = plan.buckets[pass.virtual_stage];
        if (i < sums.size() && is_last(shape_, pass.kind)) add_sum(lane, planned_at.leader, sums[i], done);
      };
      if (pass.kind == PassKind::weight) {  // of activations and their gradients alone
        sum_after(add_compute(lane, pass, piece.weight, true).task);
        continue;
      }
      PassTime rest = time_of(piece, pass.kind);
      if (s_.software.gather_for_recompute && piece.recompute.duration > Time{}) {
        add_gathered_compute(lane, pass, gathers, piece.recompute);
        rest = rest - piece.recompute;
      }
      sum_after(add_gathered_compute(lane, pass, gathers, rest));
    }
  }

  /// What may be prefetched is gathered from when the task before starts, the rest from when it has ended.
  TaskId add_gathered_compute(std::uint32_t lane, const Pass& pass, Gathers& gathers, const PassTime& time) {
    const std::vector<LaneTask>& before = step_.lanes[lane].tasks;
    const auto back = [&](std::size_t n) {
      return before.size() >= n ? std::optional<TaskId>(before[before.size() - n].task) : std::nullopt;
    };
    TaskId gathered{};
    const std::uint32_t keeper = groups_.leader(lane, pass.virtual_stage);
    if (gathers.ahead) gathered = collective(lane, keeper, *gathers.ahead, true, back(2), "parameters");
    if (gathers.rest) gathered = collective(lane, keeper, *gathers.rest, true, back(1), "parameters");
    LaneTask& task = add_compute(lane, pass, time, true);
    if (!task.data) task.data = gathered;
    const TaskId done = task.task;
    step_.graph.after(done, gathered);
    return done;
  }

  /// Sums that follow the passes, then the optimizer.
  void add_gradient_sums() {
    for (std::uint32_t lane = 0; lane < step_.lanes.size(); ++lane) {
      if (!several_data_ranks() || zero_ >= 2 || overlap_) continue;
      add_whole_sums(lane);
    }
    std::vector<std::optional<TaskId>> embeddings(step_.lanes.size());
    if (!traffic_.tied_embeddings.empty())
      for (std::uint32_t r = 0; r < replicas_; ++r) {
        const std::array<std::uint32_t, 2> ends{groups_.lane(r, 0), groups_.lane(r, stages_ - 1)};
        const std::array<sim::StreamId, 2> streams{streams_[ends[0]].data, streams_[ends[1]].data};
        const TaskId task = step_.graph.transfer(streams, route(traffic_.tied_embeddings[r], {}),
                                                 wires_.amount(traffic_.tied_embeddings[r].wire));
        count(traffic_.tied_embeddings[r].wire);
        for (const std::uint32_t lane : ends) {
          step_.graph.after(task, step_.lanes[lane].tasks.back().task);
          embeddings[lane] = task;
          if (in_.trace) step_.lanes[lane].traffic.push_back({task, 2, "tied embeddings", 0});
        }
      }
    for (std::uint32_t lane = 0; lane < step_.lanes.size(); ++lane) add_optimizer(lane, embeddings[lane]);
  }

  /// Of the parameters that a lane's rank updates.
  Time update_time(std::uint32_t lane, double parameters) const {
    if (s_.offload.optimizer != Tier::gpu) return update_on_host(s_, parameters, *in_.copies);
    return straggling(lane, optimizer_time(gpu(lane), s_.software, parameters));
  }

  void add_optimizer(std::uint32_t lane, std::optional<TaskId> embeddings) {
    if (s_.data_parallel.compression.any() && !last_sums_[lane].empty()) {
      decompress(lane, last_sums_[lane].back());
      last_sums_[lane].clear();
    }
    if (s_.training.optimizer == Optimizer::none) return;
    const Coordinate c = step_.lanes[lane].at;
    const Held trained = trained_held(in_.blocks, in_.chunks[c.stage]);
    const Time duration = update_time(lane, zero_ >= 1 ? sharded(s_, trained, copies(shape_)) : trained.all);
    const TaskId task = step_.graph.work(streams_[lane].compute, duration);
    LaneTask& entry =
        step_.lanes[lane].tasks.emplace_back(LaneTask{task, Activity::optimizer, 0, 0, duration, {}, {}, {}});
    if (const std::vector<TaskId>& sums = last_sums_[lane]; !sums.empty()) {
      // They run one after the other, each group's in its own order, so the last one made ends last of its group's.
      for (const TaskId sum : copies(shape_) == 1 ? std::span(sums).last(1) : std::span(sums))
        step_.graph.after(task, sum);
      entry.data = *std::ranges::max_element(sums, {}, [](TaskId sum) { return sim::index(sum); });
    }
    if (embeddings) {
      step_.graph.after(task, *embeddings);
      entry.arrival = *embeddings;
    }
    if (zero_ == 1 || zero_ == 2)
      if (several_data_ranks())
        for (const std::uint32_t leader : groups_.leaders(lane))
          if (std::optional<Declared>& spread = traffic_.data[leader].spread)
            step_.lanes[lane].after_compute.push_back(
                collective(lane, leader, *spread, false, task, "updated parameters"));
  }

  void connect_passes() {
    for (std::uint32_t r = 0; r < replicas_; ++r)
      for (const PassKind kind : {PassKind::forward, PassKind::backward})
        for (std::uint32_t mb = 0; mb < micro_batches_; ++mb)
          for (std::uint32_t chunk = 0; chunk < chunks_; ++chunk) {
            const bool forward = kind == PassKind::forward;
            if (forward ? chunk == 0 : chunk + 1 == chunks_) continue;
            const std::uint32_t send = send_of_pass_[number(r, kind, mb, forward ? chunk - 1 : chunk + 1)];
            if (send == kNever) continue;
            const std::size_t n = number(r, kind, mb, chunk);
            step_.graph.after(TaskId{first_of_pass_[n]}, TaskId{send});
            const std::uint32_t stage = place(shape_, {copy_of(shape_, MicroBatchId{mb}), chunk}).stage;
            LaneTask& task = step_.lanes[groups_.lane(r, stage)].tasks[lane_task_of_pass_[n]];
            (task.beside && !forward ? task.arrival_beside : task.arrival) = TaskId{send};
          }
  }

  const StepInput& in_;
  const Scenario& s_;
  Wires& wires_;
  const Shape shape_;
  const std::uint32_t stages_, chunks_;
  const LaneGroups groups_;
  const std::uint32_t replicas_, micro_batches_;
  const bool overlap_, drains_;
  const int zero_;

  Step step_;
  std::vector<Streams> streams_;
  Traffic traffic_;
  std::vector<std::uint32_t> first_of_pass_, send_of_pass_, lane_task_of_pass_;
  Joined sums_, gathers_;                                   ///< by the group's leader
  Joined ties_;                                             ///< by replica
  std::map<std::uint32_t, std::vector<TaskId>> last_sums_;  ///< per lane, since its weights last changed
  std::map<std::uint32_t, TaskId> blocked_by_;
};

}  // namespace

Step build_step(const StepInput& input, Wires& wires) { return Builder(input, wires).build(); }

}  // namespace stepcast::schedules
