#include "schedules/step/build_step.h"

#include <algorithm>
#include <span>
#include <unordered_map>
#include <utility>

#include "models/layers/frozen.h"
#include "schedules/pipeline/placement.h"
#include "schedules/step/joined.h"
#include "schedules/step/lanes.h"
#include "schedules/step/parameter_gathers.h"
#include "schedules/step/weight_updates.h"

namespace stepcast::schedules {
namespace {

using sim::TaskId;

constexpr std::uint32_t kNever = 0xffffffffu;
constexpr std::uint64_t kPassKinds = static_cast<std::uint64_t>(PassKind::whole_backward) + 1;

/// Every lane's passes in its stage's order, and what they wait for.
class Builder {
 public:
  Builder(const StepInput& in, const Traffic& traffic, const InnerTraffic* inner)
      : in_(in),
        s_(in.scenario),
        lanes_(in, traffic, inner),
        updates_(lanes_),
        gathers_(lanes_, updates_),
        shape_(in.pipeline->shape),
        chunks_(chunks(shape_)),
        replicas_(lanes_.groups.replicas()),
        micro_batches_(shape_.micro_batches),
        drains_(in.pipeline->updates == Updates::after_flush),
        sends_overlap_(pipeline_overlap(s_)),
        gathers_parameters_(s_.data_parallel.zero == 3),
        sums_each_micro_batch_(sums_each_micro_batch(s_)),
        joined_(lanes_.count()) {
    const std::size_t passes = std::size_t{2} * micro_batches_ * chunks_ * replicas_;
    first_of_pass_.assign(passes, kNever);
    send_of_pass_.assign(passes, kNever);
    lane_task_of_pass_.assign(passes, kNever);
  }

  Step build() {
    for (std::uint32_t lane = 0; lane < lanes_.count(); ++lane) add_passes(lane);
    connect_passes();
    if (drains_) updates_.add_after_flush();
    if (in_.exchange == Exchange::parameters && s_.parallelism.data > 1) updates_.add_averages();
    return std::move(lanes_.step);
  }

 private:
  /// Whether the stages before a place are sent gradients.
  bool trains(ChunkPlace at) const { return goes_backward(in_.blocks, in_.chunks[at.stage][at.virtual_stage]); }
  static bool trains(const Chunk& chunk) {
    return std::ranges::any_of(chunk.pieces, [](const Piece& piece) { return piece.trained > 0; });
  }

  /// Passes of one replica are numbered (kind, micro-batch, model chunk).
  std::size_t number(std::uint32_t replica, PassKind kind, std::uint32_t micro_batch, std::uint32_t chunk) const {
    const std::size_t half = kind == PassKind::forward ? 0 : 1;
    return ((replica * std::size_t{2} + half) * micro_batches_ + micro_batch) * chunks_ + chunk;
  }

  /// After so many micro-batches' gradients a virtual stage's weights change.
  std::uint32_t micro_batches_an_update(std::uint32_t virtual_stage) const {
    switch (in_.pipeline->updates) {
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
    const StageOrder& order = in_.pipeline->orders[lanes_[lane].at.stage];
    std::vector<std::uint32_t> made(shape_.virtual_stages, 0);
    bool reducing = false;
    std::vector<PassBegin>& begins = lanes_[lane].passes;
    begins.reserve(order.size() + 1);
    lanes_[lane].flushes = order.size();
    const auto begin = [&] {
      begins.push_back({static_cast<std::uint32_t>(lanes_.step.program.tasks()),
                        static_cast<std::uint32_t>(lanes_[lane].tasks.size())});
    };
    for (std::size_t i = 0; i < order.size(); ++i) {
      begin();
      lanes_.begin_pass(lane);
      const Pass& pass = order[i];
      const Pass* beside = pass.with_next ? &order[++i] : nullptr;
      if (beside != nullptr) {
        begin();
        lanes_.begin_pass(lane);
      }
      const Pass& back = beside != nullptr ? *beside : pass;
      const bool makes_gradients = is_last(shape_, back.kind);
      if (makes_gradients) ++made[back.virtual_stage];
      const bool last_gradients =
          makes_gradients && made[back.virtual_stage] % micro_batches_an_update(back.virtual_stage) == 0;
      if (last_gradients) lanes_[lane].flushes = std::min(lanes_[lane].flushes, begins.size() - 1);
      const Chunk& chunk = lanes_.traffic.data[lane].chunks[pass.virtual_stage];
      hold_for_arrival(lane, pass);
      if (beside != nullptr) hold_for_arrival(lane, *beside);
      const auto first_task = static_cast<std::uint32_t>(lanes_[lane].tasks.size());
      if (beside != nullptr) {
        add_pair(lane, pass, *beside, reducing);
        if (lanes_.overlaps() && last_gradients && trains(lanes_.traffic.data[lane].chunks[back.virtual_stage])) {
          updates_.add_sums(lane, beside->virtual_stage);
          reducing = true;
        }
      } else if (lanes_.several_data_ranks() && gathers_parameters_ &&
                 (pass.kind == PassKind::forward || trains(chunk))) {
        gathers_.add_pass(lane, pass, chunk, sums_each_micro_batch_ || last_gradients);
      } else if (lanes_.several_data_ranks() && makes_gradients &&
                 (sums_each_micro_batch_ || (lanes_.overlaps() && last_gradients)) && trains(chunk)) {
        add_bucketed_backward(lane, pass, chunk);
        reducing = drains_;
      } else if (runs_on(lane, reducing)) {
        lanes_.prolong(lane, time_of(chunk, pass.kind));
        const Repeats again = repeats_behind(order, i, made);
        if (again.times == 0) continue;
        const auto passes = std::span(order).subspan(i + 1, again.passes);
        for (std::size_t more = 0; more < again.passes * again.times; ++more) begin();
        once_.clear();
        for (const Pass& each : passes) {
          once_.push_back(time_of_pass(lane, each));
          if (is_last(shape_, each.kind)) made[each.virtual_stage] += static_cast<std::uint32_t>(again.times);
        }
        lanes_.prolong(lane, once_, static_cast<std::int64_t>(again.times));
        i += again.passes * again.times;
        continue;
      } else {
        lanes_.add_compute(lane, pass, whole(lane, pass, nullptr), reducing);
      }
      pass_is_made(lane, pass, first_task);
      if (beside != nullptr) pass_is_made(lane, *beside, first_task);
      if (!drains_ && last_gradients) updates_.add_without_flush(lane, made[back.virtual_stage]);
    }
    begin();
  }

  /// Whether a pass goes on where the lane's last one ends and nobody can tell: one stage, alike micro-batches.
  bool runs_on(std::uint32_t lane, bool reducing) {
    // For what is exchanged in every micro-batch.
    const bool waits = lanes_.several_data_ranks() && (gathers_parameters_ || sums_each_micro_batch_);
    return shape_.stages == 1 && drains_ && !waits && !in_.trace && !in_.record && in_.stragglers == nullptr &&
           !reducing && !in_.transfers && !lanes_.simulates_copies() && !lanes_.waits_in_every_pass() &&
           !lanes_[lane].tasks.empty();
  }

  PassTime time_of_pass(std::uint32_t lane, const Pass& pass) const {
    return time_of(lanes_.traffic.data[lane].chunks[pass.virtual_stage], pass.kind);
  }

  /// So many passes come again and again, so often.
  struct Repeats {
    std::size_t passes = 0, times = 0;
  };
  /// The fewest behind this one that do, before any of them is the last of its virtual stage. Times 0: there are none.
  Repeats repeats_behind(const StageOrder& order, std::size_t at, const std::vector<std::uint32_t>& made) const {
    const auto alike = [&](std::size_t a, std::size_t b) {
      return order[a].kind == order[b].kind && order[a].virtual_stage == order[b].virtual_stage &&
             order[a].with_next == order[b].with_next;
    };
    const std::size_t first = at + 1;
    for (std::size_t passes = 2; passes <= std::size_t{2} * shape_.virtual_stages; passes += 2) {
      std::size_t end = std::min(first + passes, order.size());
      while (end < order.size() && alike(end - passes, end)) ++end;
      std::size_t times = (end - first) / passes;
      if (times < 2) continue;
      const auto once = std::span(order).subspan(first, passes);
      if (std::ranges::any_of(once, &Pass::with_next)) continue;
      for (const Pass& pass : once) {
        const std::uint32_t stage = pass.virtual_stage;
        const auto gradients = static_cast<std::size_t>(std::ranges::count_if(
            once, [&](const Pass& other) { return other.virtual_stage == stage && is_last(shape_, other.kind); }));
        if (gradients == 0) continue;
        times = std::min(times, (micro_batches_an_update(stage) - made[stage] - 1) / gradients);
      }
      if (times > 0) return {passes, times};
    }
    return {};
  }

  /// The pass begins with the lane's task `first_task`; what it makes is sent on.
  void pass_is_made(std::uint32_t lane, const Pass& pass, std::uint32_t first_task) {
    if (pass.kind == PassKind::weight) return;  // nobody waits for it
    const ModelChunk at = held(shape_, {lanes_[lane].at.stage, pass.virtual_stage});
    const std::size_t n = number(lane % replicas_, pass.kind, index(pass.micro_batch), at.chunk);
    first_of_pass_[n] = sim::index(lanes_[lane].tasks[first_task].task);
    lane_task_of_pass_[n] = first_task;
    add_send(lane, pass, n);
  }

  /// A forward and a backward at once.
  void add_pair(std::uint32_t lane, const Pass& forward, const Pass& backward, bool disturbed) {
    lanes_.add_compute(lane, forward, whole(lane, forward, &backward), disturbed).beside = backward;
  }

  /// What a pass of a lane is, or two that run together; passes of all micro-batches are alike.
  const Stretch& whole(std::uint32_t lane, const Pass& pass, const Pass* beside) {
    const auto of = [&](const Pass& p) {
      return static_cast<std::uint64_t>(p.virtual_stage) * kPassKinds + static_cast<std::uint64_t>(p.kind);
    };
    const std::uint64_t kinds = std::uint64_t{shape_.virtual_stages} * kPassKinds;
    const auto [known, fresh] =
        stretches_.try_emplace((lane * kinds + of(pass)) * kinds + of(beside != nullptr ? *beside : pass));
    if (fresh) {
      const std::vector<Chunk>& chunks = lanes_.traffic.data[lane].chunks;
      known->second = stretch_of(chunks[pass.virtual_stage], pass.kind);
      if (beside != nullptr)
        known->second = together(known->second, stretch_of(chunks[beside->virtual_stage], beside->kind));
    }
    return known->second;
  }

  /// What a host stands still for while an activation, or the gradient of one, is handed over.
  Time hold_of(PassKind kind) const {
    return kind == PassKind::forward ? s_.software.activation_hold : s_.software.gradient_hold;
  }

  /// The lane's stage does nothing else for so long.
  LaneTask& stand_still(std::uint32_t lane, const Pass& pass) {
    workload::Program& program = lanes_.step.program;
    const sim::StreamId stream = lanes_.streams(lane).compute;
    const TaskId from = program.kernels(stream, {}), until = program.kernels(stream, hold_of(pass.kind));
    lanes_[lane].tasks.push_back(
        {from, until, Activity::send, index(pass.micro_batch), pass.virtual_stage, {}, {}, {}, {}});
    return lanes_[lane].tasks.back();
  }

  /// Before a pass that takes what another stage sends, its own does nothing else for as long as the sender's.
  void hold_for_arrival(std::uint32_t lane, const Pass& pass) {
    if (pass.kind == PassKind::weight || hold_of(pass.kind) == Time{}) return;
    const ChunkPlace here{lanes_[lane].at.stage, pass.virtual_stage};
    const std::optional<ChunkPlace> from = next_place(shape_, here, pass.kind != PassKind::forward);
    if (!from || from->stage == here.stage || (pass.kind != PassKind::forward && !trains(here))) return;
    const std::size_t n = number(lane % replicas_, pass.kind, index(pass.micro_batch), held(shape_, here).chunk);
    lane_task_of_arrival_.try_emplace(n, static_cast<std::uint32_t>(lanes_[lane].tasks.size()));
    stand_still(lane, pass);
  }

  /// To the stage that the next chunk is on, if it is another one.
  void add_send(std::uint32_t lane, const Pass& pass, std::size_t n) {
    const std::uint32_t stage = lanes_[lane].at.stage, micro_batch = index(pass.micro_batch);
    const bool forward = pass.kind == PassKind::forward;
    const std::optional<ChunkPlace> to = next_place(shape_, {stage, pass.virtual_stage}, forward);
    if (!to || to->stage == stage || (!forward && !trains(*to))) return;
    const Declared& send = lanes_.traffic.sends[lane][forward == goes_down(shape_, pass.virtual_stage) ? 0 : 1];
    const bool beside = sends_overlap_;
    if (hold_of(pass.kind) > Time{}) begin_of_send_.try_emplace(n, stand_still(lane, pass).task);
    const TaskId done = lanes_.last_task(lane);
    const Lanes::Streams& streams = lanes_.streams(lane);
    const std::vector<std::uint32_t>& senders = lanes_.traffic.senders[lane];
    workload::Program& program = lanes_.step.program;
    TaskId task{};
    if (senders.empty()) {
      task = lanes_.transfer({beside ? &streams.pipeline : &streams.compute, 1}, send);
      if (beside) program.after(task, done);
    } else {  // on no stream: what it comes after keeps it in its place
      task = joined_.next(lane, senders.front(), [&] { return lanes_.transfer({}, send); }).task;
      program.after(task, done);
      if (!beside) program.after(program.kernels(streams.compute, {}), task);
    }
    send_of_pass_[n] = sim::index(task);
    if (!beside)
      lanes_[lane].tasks.push_back({task, task, Activity::send, micro_batch, pass.virtual_stage, {}, {}, {}, {}});
    lanes_.note(lane, {task, 1, forward ? "activation" : "gradient", micro_batch});
  }

  /// Backward in pieces, each bucket summed as soon as its gradients are there.
  void add_bucketed_backward(std::uint32_t lane, const Pass& pass, const Chunk& chunk) {
    const Lanes::Planned at = lanes_.planned(lane, pass.virtual_stage);
    const auto& ends = at.plan.bucket_ends[at.virtual_stage];
    std::size_t back = 0;
    for (std::size_t b = 0; b < ends.size(); ++b) {
      Stretch time;
      for (; back <= ends[b]; ++back) time.add(chunk.pieces[chunk.pieces.size() - 1 - back], pass.kind);
      time.time = time.time + lanes_.launch_of_collectives(1);
      const TaskId done = lanes_.add_compute(lane, pass, time, true).last;
      updates_.add_sum(lane, at.leader, at.plan.buckets[at.virtual_stage][b], done);
    }
    Stretch rest;  // what has no parameters, or frozen ones
    for (; back < chunk.pieces.size(); ++back) rest.add(chunk.pieces[chunk.pieces.size() - 1 - back], pass.kind);
    if (rest.time.duration > Time{}) lanes_.add_compute(lane, pass, rest, true);
  }

  void connect_passes() {
    for (std::uint32_t r = 0; r < replicas_; ++r)
      for (const PassKind kind : {PassKind::forward, PassKind::backward})
        for (std::uint32_t mb = 0; mb < micro_batches_; ++mb)
          for (std::uint32_t chunk = 0; chunk < chunks_; ++chunk) {
            const bool forward = kind == PassKind::forward;
            if (forward ? chunk == 0 : chunk + 1 == chunks_) continue;
            const std::size_t sender = number(r, kind, mb, forward ? chunk - 1 : chunk + 1);
            const std::uint32_t send = send_of_pass_[sender];
            if (send == kNever) continue;
            const std::size_t n = number(r, kind, mb, chunk);
            lanes_.step.program.after(TaskId{first_of_pass_[n]}, TaskId{send});
            const std::uint32_t stage = place(shape_, {copy_of(shape_, MicroBatchId{mb}), chunk}).stage;
            LaneTask& task = lanes_[lanes_.groups.lane(r, stage)].tasks[lane_task_of_pass_[n]];
            (task.beside && !forward ? task.arrival_beside : task.arrival) = TaskId{send};
            if (hold_of(kind) > Time{}) {
              LaneTask& waits = lanes_[lanes_.groups.lane(r, stage)].tasks[lane_task_of_arrival_.at(n)];
              waits.arrival = begin_of_send_.at(sender);
              lanes_.step.program.after(waits.task, *waits.arrival);
            }
          }
  }

  const StepInput& in_;
  const Scenario& s_;
  Lanes lanes_;
  WeightUpdates updates_;
  ParameterGathers gathers_;
  const Shape shape_;
  const std::uint32_t chunks_, replicas_, micro_batches_;
  const bool drains_, sends_overlap_;
  const bool gathers_parameters_, sums_each_micro_batch_;
  Joined joined_;                                         ///< sends of several lanes
  std::unordered_map<std::uint64_t, Stretch> stretches_;  ///< by lane, pass and the pass beside it
  std::vector<std::uint32_t> first_of_pass_, send_of_pass_, lane_task_of_pass_;
  std::unordered_map<std::size_t, TaskId> begin_of_send_;                ///< by pass, where it holds up both stages
  std::unordered_map<std::size_t, std::uint32_t> lane_task_of_arrival_;  ///< likewise: what the receiver's does before
  std::vector<PassTime> once_;                                           ///< of passes that repeat, kept for its memory
};

}  // namespace

Step build_step(const StepInput& input, const Traffic& traffic, const InnerTraffic* inner) {
  return Builder(input, traffic, inner).build();
}

}  // namespace stepcast::schedules
