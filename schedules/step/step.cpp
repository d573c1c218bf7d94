#include "schedules/step/step.h"

#include <algorithm>
#include <array>
#include <map>

#include "schedules/model/frozen.h"
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
        stages_(s_.parallelism.pipeline),
        chunks_(stages_ * s_.pipeline.virtual_stages),
        replicas_(in.unfold ? s_.parallelism.tensor * s_.parallelism.data : 1),
        micro_batches_(micro_batches(s_)),
        overlap_(data_overlap(s_)),
        zero_(s_.data_parallel.zero),
        gradients_(last_pass(in.shape)) {}

  Step build() {
    make_lanes();
    traffic_ = declare_traffic(in_, step_.lanes, wires_);
    step_.wire_times.assign(wires_.count(), 0);
    for (std::uint32_t lane = 0; lane < step_.lanes.size(); ++lane) add_passes(lane);
    connect_passes();
    add_gradient_sums();
    return std::move(step_);
  }

 private:
  struct Streams {
    sim::StreamId compute{}, pipeline{}, data{}, parameters{};
    sim::ResourceId engine{};
    sim::RouteId work{};  ///< compute that traffic may slow
  };

  /// Lane of replica r (0: tensor 0, data 0) at a stage.
  std::uint32_t lane_of(std::uint32_t replica, std::uint32_t stage) const { return stage * replicas_ + replica; }

  void make_lanes() {
    const std::size_t passes = std::size_t{2} * micro_batches_ * chunks_ * replicas_;
    step_.graph.reserve(2 * passes, 4 * passes);
    for (std::uint32_t stage = 0; stage < stages_; ++stage)
      for (std::uint32_t r = 0; r < replicas_; ++r) {
        const std::uint32_t t = r % s_.parallelism.tensor, d = r / s_.parallelism.tensor;
        step_.lanes.push_back({{t, d, stage}, {}, {}, {}});
        step_.lanes.back().tasks.reserve(in_.orders[stage].size() * 2 + 4);
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
        streams_.push_back(streams);
      }
    first_of_pass_.assign(passes, kNever);
    send_of_pass_.assign(passes, kNever);
    lane_task_of_pass_.assign(passes, kNever);
  }

  /// Whether stages behind a model chunk send it gradients.
  bool trains(std::uint32_t model_chunk) const {
    return goes_backward(in_.blocks, in_.chunks[model_chunk % stages_][model_chunk / stages_]);
  }
  static bool trains(const Chunk& chunk) {
    return std::ranges::any_of(chunk.pieces, [](const Piece& piece) { return piece.trained > 0; });
  }

  bool several_data_ranks() const { return s_.parallelism.data > 1; }
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

  /// A stretch of compute on a lane. `disturbed`: traffic runs beside it and may slow it.
  LaneTask& add_compute(std::uint32_t lane, const Pass& pass, const PassTime& time, bool disturbed) {
    const Streams& streams = streams_[lane];
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
    if (const auto sum = blocked_by_.find(lane); sum != blocked_by_.end()) {
      step_.graph.after(task, sum->second);
      entry.data = sum->second;
      blocked_by_.erase(sum);
    }
    return entry;
  }

  void add_passes(std::uint32_t lane) {
    const Coordinate c = step_.lanes[lane].at;
    const std::uint32_t replica = lane % replicas_;
    const StageOrder& order = in_.orders[c.stage];
    std::vector<std::uint32_t> made(s_.pipeline.virtual_stages, 0);
    bool reducing = false;
    for (const Pass& pass : order) {
      const bool forward = pass.kind == PassKind::forward;
      const bool makes_gradients = pass.kind == gradients_;
      const bool last_gradients = makes_gradients && ++made[pass.virtual_stage] == micro_batches_;
      const Chunk& chunk = traffic_.data[lane].chunks[pass.virtual_stage];
      const std::size_t first_task = step_.lanes[lane].tasks.size();
      if (several_data_ranks() && zero_ == 3 && (forward || trains(chunk))) {
        add_gathered_pass(lane, pass, chunk);
      } else if (several_data_ranks() && makes_gradients && (zero_ == 2 || (overlap_ && last_gradients)) &&
                 trains(chunk)) {
        add_bucketed_backward(lane, pass, chunk);
        reducing = true;
      } else {
        add_compute(lane, pass, time_of(chunk, pass.kind), reducing);
      }
      if (pass.kind == PassKind::weight) continue;  // nobody waits for it
      const std::uint32_t model_chunk = pass.virtual_stage * stages_ + c.stage;
      const std::size_t n = number(replica, pass.kind, index(pass.micro_batch), model_chunk);
      first_of_pass_[n] = sim::index(step_.lanes[lane].tasks[first_task].task);
      lane_task_of_pass_[n] = static_cast<std::uint32_t>(first_task);
      if (forward ? model_chunk + 1 < chunks_ : model_chunk > 0 && trains(model_chunk - 1)) add_send(lane, pass, n);
    }
  }

  void add_send(std::uint32_t lane, const Pass& pass, std::size_t n) {
    if (stages_ == 1) return;
    Declared& send = traffic_.sends[lane][pass.kind == PassKind::forward ? 0 : 1];
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

  /// Without folding each rank of a data-parallel group has a lane. Lanes are built one after the other and ask for the
  /// group's collectives in the same order, so the n-th one asked for is the same for all of them.
  std::uint32_t leader(std::uint32_t lane) const {
    const Coordinate c = step_.lanes[lane].at;
    return in_.unfold ? lane_of(c.tensor, c.stage) : lane;
  }

  std::vector<std::uint32_t> members(std::uint32_t lane) const {
    if (!in_.unfold) return {lane};
    const Coordinate c = step_.lanes[lane].at;
    std::vector<std::uint32_t> lanes;
    for (std::uint32_t d = 0; d < s_.parallelism.data; ++d)
      lanes.push_back(lane_of(c.tensor + s_.parallelism.tensor * d, c.stage));
    return lanes;
  }

  /// The group's next collective, after `ready` (if any): made by the group's first lane, joined by the others.
  TaskId collective(std::uint32_t lane, Declared& declared, bool parameters, std::optional<TaskId> ready,
                    std::string_view name) {
    std::vector<TaskId>& made = parameters ? made_gathers_[leader(lane)] : made_sums_[leader(lane)];
    std::uint32_t& asked = parameters ? asked_gathers_[lane] : asked_sums_[lane];
    const std::uint32_t turn = asked++;
    if (turn == made.size()) {
      std::vector<sim::StreamId> streams;
      std::vector<sim::ResourceId> engines;
      for (const std::uint32_t member : members(lane)) {
        streams.push_back(parameters ? streams_[member].parameters : streams_[member].data);
        engines.push_back(streams_[member].engine);
      }
      made.push_back(step_.graph.transfer(streams, route(declared, engines), wires_.amount(declared.wire)));
      count(declared.wire);
    }
    const TaskId task = made[turn];
    if (ready) step_.graph.after(task, *ready);
    if (in_.trace) step_.lanes[lane].traffic.push_back({task, parameters ? 3u : 2u, name, turn});
    return task;
  }

  DataPlan& data_plan(std::uint32_t lane) { return traffic_.data[leader(lane)]; }

  template <class PieceOrChunk>
  static const PassTime& time_of(const PieceOrChunk& part, PassKind kind) {
    return kind == PassKind::forward ? part.forward : kind == PassKind::backward ? part.backward : part.weight;
  }

  /// Backward in pieces, each bucket summed as soon as its gradients are there.
  void add_bucketed_backward(std::uint32_t lane, const Pass& pass, const Chunk& chunk) {
    DataPlan& plan = data_plan(lane);
    const auto& ends = plan.bucket_ends[pass.virtual_stage];
    std::size_t back = 0;
    for (std::size_t b = 0; b < ends.size(); ++b) {
      PassTime time;
      for (; back <= ends[b]; ++back) time = time + time_of(chunk.pieces[chunk.pieces.size() - 1 - back], pass.kind);
      const TaskId done = add_compute(lane, pass, time, true).task;
      add_sum(lane, plan.buckets[pass.virtual_stage][b], done);
    }
    PassTime rest;  // what has no parameters, or frozen ones
    for (; back < chunk.pieces.size(); ++back) {
      rest = rest + time_of(chunk.pieces[chunk.pieces.size() - 1 - back], pass.kind);
    }
    if (rest.duration > Time{}) add_compute(lane, pass, rest, true);
  }

  /// The sum of gradients that are there once `done` has ended; without overlap the lane's compute waits for it.
  void add_sum(std::uint32_t lane, Declared& sum, TaskId done) {
    const TaskId task = collective(lane, sum, false, done, "gradients");
    last_sum_[lane] = task;
    if (!overlap_) blocked_by_[lane] = task;
  }

  /// ZeRO 3: each piece's parameters are gathered before it runs, for forward and backward anew, and again between
  /// recomputation and backward where the software lets go of them; gradients leave piece by piece.
  void add_gathered_pass(std::uint32_t lane, const Pass& pass, const Chunk& chunk) {
    DataPlan& plan = data_plan(lane);
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
      PassTime rest = piece.backward;
      if (s_.software.gather_for_recompute && piece.recompute.duration > Time{}) {
        add_gathered_compute(lane, pass, gathers, piece.recompute);
        rest = rest - piece.recompute;
      }
      const TaskId done = add_gathered_compute(lane, pass, gathers, rest);
      auto& sums = plan.buckets[pass.virtual_stage];
      if (i < sums.size()) add_sum(lane, sums[i], done);
    }
  }

  /// What may be prefetched is gathered from when the task before starts, the rest from when it has ended.
  TaskId add_gathered_compute(std::uint32_t lane, const Pass& pass, Gathers& gathers, const PassTime& time) {
    const std::vector<LaneTask>& before = step_.lanes[lane].tasks;
    const auto back = [&](std::size_t n) {
      return before.size() >= n ? std::optional<TaskId>(before[before.size() - n].task) : std::nullopt;
    };
    TaskId gathered{};
    if (gathers.ahead) gathered = collective(lane, *gathers.ahead, true, back(2), "parameters");
    if (gathers.rest) gathered = collective(lane, *gathers.rest, true, back(1), "parameters");
    LaneTask& task = add_compute(lane, pass, time, true);
    if (!task.data) task.data = gathered;
    const TaskId done = task.task;
    step_.graph.after(done, gathered);
    return done;
  }

  /// Sums that follow the passes, then the optimizer.
  void add_gradient_sums() {
    for (std::uint32_t lane = 0; lane < step_.lanes.size(); ++lane) {
      if (!several_data_ranks() || zero_ >= 2 || overlap_ || !data_plan(lane).whole) continue;
      const TaskId done = step_.lanes[lane].tasks.back().task;
      last_sum_[lane] = collective(lane, *data_plan(lane).whole, false, done, "gradients");
    }
    std::vector<std::optional<TaskId>> embeddings(step_.lanes.size());
    if (!traffic_.tied_embeddings.empty())
      for (std::uint32_t r = 0; r < replicas_; ++r) {
        const std::array<std::uint32_t, 2> ends{lane_of(r, 0), lane_of(r, stages_ - 1)};
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

  void add_optimizer(std::uint32_t lane, std::optional<TaskId> embeddings) {
    if (s_.training.optimizer == Optimizer::none) return;
    const Coordinate c = step_.lanes[lane].at;
    const double held = trained_parameters(in_.blocks, in_.chunks[c.stage]);
    const double share = zero_ >= 1 ? held / shard_ranks(s_) : held;
    const Gpu& gpu = s_.cluster.gpu;
    const Time duration = from_seconds(share * s_.software.optimizer_bytes_per_parameter /
                                       (gpu.memory_bandwidth.value * gpu.memory_efficiency));
    const TaskId task = step_.graph.work(streams_[lane].compute, duration);
    LaneTask& entry =
        step_.lanes[lane].tasks.emplace_back(LaneTask{task, Activity::optimizer, 0, 0, duration, {}, {}, {}});
    if (last_sum_.contains(lane)) {
      step_.graph.after(task, last_sum_[lane]);
      entry.data = last_sum_[lane];
    }
    if (embeddings) {
      step_.graph.after(task, *embeddings);
      entry.arrival = *embeddings;
    }
    if (zero_ == 1 || zero_ == 2)
      if (several_data_ranks() && data_plan(lane).spread)
        step_.lanes[lane].after_compute.push_back(
            collective(lane, *data_plan(lane).spread, false, task, "updated parameters"));
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
            step_.lanes[lane_of(r, chunk % stages_)].tasks[lane_task_of_pass_[n]].arrival = TaskId{send};
          }
  }

  const StepInput& in_;
  const Scenario& s_;
  Wires& wires_;
  const std::uint32_t stages_, chunks_, replicas_, micro_batches_;
  const bool overlap_;
  const int zero_;
  const PassKind gradients_;  ///< the pass that makes the weights' gradients

  Step step_;
  std::vector<Streams> streams_;
  Traffic traffic_;
  std::vector<std::uint32_t> first_of_pass_, send_of_pass_, lane_task_of_pass_;
  std::map<std::uint32_t, std::vector<TaskId>> made_sums_, made_gathers_;
  std::map<std::uint32_t, std::uint32_t> asked_sums_, asked_gathers_;
  std::map<std::uint32_t, TaskId> last_sum_;
  std::map<std::uint32_t, TaskId> blocked_by_;
};

}  // namespace

Step build_step(const StepInput& input, Wires& wires) { return Builder(input, wires).build(); }

}  // namespace stepcast::schedules
