#include "schedules/step/lanes.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "schedules/pipeline/placement.h"
#include "sim/distinct_lists.h"

namespace stepcast::schedules {

using sim::TaskId;

namespace {

/// Of a chunk.
std::size_t most_pieces(const Traffic& traffic) {
  std::size_t most = 0;
  for (const DataPlan& plan : traffic.data)
    for (const Chunk& chunk : plan.chunks) most = std::max(most, chunk.pieces.size());
  return most;
}

}  // namespace

Lanes::Lanes(const StepInput& input, const Traffic& declared, const InnerTraffic* inner)
    : in(input),
      s(input.scenario),
      shape(input.pipeline->shape),
      groups(shape, input.ranks, input.unfold),
      traffic(declared),
      host_waits_(s.software.launch_blocking || (s.software.pipeline_sync && !pipeline_overlap(s) && shape.stages > 1)),
      begun_(shape.stages * groups.replicas(), 0),
      slowdown_(overlaps() ? s.software.overlap_slowdown : 0),
      members_(shape.stages * groups.replicas()),
      sums_(shape.stages * groups.replicas()),
      gathers_(shape.stages * groups.replicas()),
      inner_(inner),
      blocked_by_(shape.stages * groups.replicas()) {
  const std::size_t passes = std::size_t{2} * shape.micro_batches * chunks(shape) * groups.replicas();
  const bool joined = shape.stages == 1;  // most passes are then parts of others
  // Where parameters are gathered, each piece of a pass is two tasks, or three where it is run again.
  const std::size_t of_pass = s.data_parallel.zero == 3 ? std::max<std::size_t>(3 * most_pieces(declared), 2) : 2;
  if (!joined) step.program.reserve(of_pass * passes, 2 * of_pass * passes);
  if (in.record) step.program.remember_ranks();
  hosts_.reserve(shape.stages * groups.replicas());
  step.lanes.reserve(shape.stages * groups.replicas());
  for (std::uint32_t lane = 0; lane < shape.stages * groups.replicas(); ++lane) {
    const Coordinate at = groups.at(lane);
    Lane& made = step.lanes.emplace_back();
    made.at = at;
    if (!joined) made.tasks.reserve(in.pipeline->orders[at.stage].size() * of_pass + 4);
    const auto stream = [&] {
      return step.program.add_stream(in.record ? collectives::Group{in.ranks.gpu(at)} : collectives::Group{});
    };
    Streams streams{stream(), stream(), stream(), stream(), {}};
    if (slowdown_ > 0) streams.engine = step.program.add_engine();
    if (!in.begins.empty()) {
      step.program.kernels(streams.compute, in.begins[at.data]);
      made.begins = in.begins[at.data];
    }
    streams_.push_back(streams);
    hosts_.emplace_back(made.begins);
  }
  step.times.assign(traffic.of_the_step, 0);
}

bool Lanes::several_data_ranks() const {
  return in.exchange == Exchange::gradients && weight_copies(s.parallelism) * copies(shape) > 1;
}

PassTime Lanes::launch_of_collectives(std::int64_t count) const {
  if (s.software.cuda_graphs == CudaGraphs::step) return {};
  PassTime time =
      of_host(on_host(s.software, s.software.host_per_collective.value_or(s.software.host_per_kernel)) * count);
  time.host.launches = count;
  return time;
}

PassTime Lanes::with_host(std::uint32_t lane, const PassTime& pass) {
  const std::uint32_t begun = std::exchange(begun_[lane], 0);
  const bool captured = s.software.cuda_graphs == CudaGraphs::step,
             nothing_begun = begun == 0 && pass.host.launches > 0;
  const PassTime all =
      captured || nothing_begun ? pass : of_host(on_host(s.software, s.software.host_per_pass) * begun) + pass;
  return host_waits_ ? begun_together(all) : all;
}

std::optional<TaskId> Lanes::launched(std::uint32_t lane) { return hosts_[lane].done(step.program); }

LaneTask& Lanes::add_compute(std::uint32_t lane, const Pass& pass, const Stretch& undisturbed, bool disturbed) {
  const PassTime time = with_host(lane, straggling(lane, undisturbed.time));
  Ends ends;
  // Of one stage alone only what is summed or gathered runs beside it, and nobody is late but by chance or for others.
  const bool beside =
      shape.stages > 1 || disturbed || simulates_copies() || waits_in_every_pass() || in.stragglers != nullptr;
  const bool together = !in.transfers && beside && inner_ != nullptr && !inner_->in_step(lane).empty();
  const bool in_parts = in.transfers || (!undisturbed.parts.empty() && beside);
  if (in_parts) {
    const bool works = undisturbed.time.compute > Time{};
    const Time compute =
        together ? time.duration - time.exposed_host - undisturbed.time.exposed_tensor - undisturbed.time.exposed_copy
                 : time.compute;
    const double slower = works ? compute / undisturbed.time.compute : 1;
    std::optional<sim::SequenceId> sequence;
    if (!together)
      sequence = sequence_of(
          {lane, undisturbed.parts, undisturbed.at_once, disturbed && slowdown_ > 0, slower, time.exposed_host},
          undisturbed);
    if (sequence)
      ends.first = ends.last = step.program.sequence(streams_[lane].compute, *sequence);
    else
      ends = add_parts(lane, undisturbed, slower, time.exposed_host, disturbed);
  } else if (together) {
    ends.first = step.program.kernels(streams_[lane].compute, {});
    ends.last = kernels(lane, time.duration, disturbed);
    step.program.after(ends.last, in_step(lane, ends.first));
  } else if (slowdown_ > 0 && disturbed && time.exposed_copy > Time{} && time.hides_copies > Time{}) {
    // What slows kernels does not slow copies beside them.
    ends.first = step.program.kernels(streams_[lane].compute, {});
    const TaskId copied = step.program.delay(time.duration);
    step.program.after(copied, ends.first);
    kernels(lane, time.duration - time.exposed_copy, disturbed);
    ends.last = step.program.kernels(streams_[lane].compute, {});
    step.program.after(ends.last, copied);
  } else {
    ends.first = ends.last = kernels(lane, time.duration, disturbed);
  }
  const TaskId task = ends.first, kernels_end = ends.last;
  if (!host_waits_) {
    const auto number = static_cast<std::uint32_t>(step.lanes[lane].passes.size());
    ends.last = hosts_[lane].launch(step.program, streams_[lane].compute, time, kernels_end, number);
    step.lanes[lane].passes_back = hosts_[lane].passes_back();
  }
  LaneTask& entry = step.lanes[lane].tasks.emplace_back(LaneTask{task,
                                                                 ends.last,
                                                                 static_cast<Activity>(pass.kind),
                                                                 index(pass.micro_batch),
                                                                 pass.virtual_stage,
                                                                 time.compute,
                                                                 time.exposed_tensor,
                                                                 {},
                                                                 {}});
  entry.exposed_copy = time.exposed_copy;
  entry.exposed_host = time.exposed_host;
  if (ends.last != kernels_end) entry.kernels = kernels_end;
  entry.in_parts = in_parts || together;
  entry.beside_data = overlaps();
  if (const std::optional<TaskId> sum = std::exchange(blocked_by_[lane], std::nullopt)) {
    step.program.after(task, *sum);
    entry.data = sum;
  }
  return entry;
}

TaskId Lanes::in_step(std::uint32_t lane, TaskId ready) {
  if (in.transfers) return ready;
  for (const auto& [among, first] : inner_->in_step(lane)) {
    const Joined::Turn turn =
        begins_.try_emplace(among, count()).first->second.next(lane, first, [&] { return step.program.moment(); });
    step.program.after(turn.task, std::exchange(ready, turn.task));
  }
  return ready;
}

bool Lanes::StretchOfLane::operator==(const StretchOfLane& other) const {
  return lane == other.lane && at_once == other.at_once && slowed == other.slowed && slower == other.slower &&
         host == other.host && std::ranges::equal(parts, other.parts);
}

std::size_t Lanes::HashOfStretch::operator()(const StretchOfLane& of) const {
  std::uint64_t hash = sim::scramble(of.lane ^ static_cast<std::uint64_t>(of.host.value));
  if (!of.parts.empty()) hash = sim::scramble(hash ^ reinterpret_cast<std::uintptr_t>(of.parts.front()));
  return hash;
}

bool Lanes::is_sequence(const StretchOfLane& of) const {
  if (in.transfers || in.trace || in.record || simulates_copies() || of.slowed) return false;
  for (const PassParts* parts : of.parts)
    for (const PassPart& part : *parts)
      if (part.traffic)
        if (const InnerTraffic::Group& group = inner_->group(of.lane, *part.traffic);
            group.lanes.size() > 1 && (group.meets || of.at_once))
          return false;
  return true;
}

std::optional<sim::SequenceId> Lanes::sequence_of(const StretchOfLane& of, const Stretch& stretch) {
  if (const auto known = sequences_.find(of); known != sequences_.end()) return known->second;
  StretchOfLane kept = of;
  kept.parts = parts_of_sequences_.emplace_back(of.parts.begin(), of.parts.end());
  std::optional<sim::SequenceId>& sequence = sequences_[kept];
  if (is_sequence(of)) sequence = step.program.add_sequence(stints(of.lane, stretch, of.slower, of.host));
  return sequence;
}

std::vector<workload::Program::Stint> Lanes::stints(std::uint32_t lane, const Stretch& stretch, double slower,
                                                    Time host) const {
  const auto longer = [&](Time time) { return slower == 1 ? time : from_seconds(to_seconds(time) * slower); };
  std::vector<workload::Program::Stint> all;
  Time next{};  // kernels that have no stint yet
  const auto add_kernels = [&] {
    if (next > Time{}) all.push_back({std::exchange(next, {})});
  };
  const auto add_traffic = [&](const PassPart& part) {
    std::vector<workload::CommunicationId>& to = all.back().communications;
    to.insert(to.end(), static_cast<std::size_t>(part.times), inner_->group(lane, *part.traffic).communication);
  };
  if (stretch.at_once) all.emplace_back();
  for (const PassParts* parts : stretch.parts)
    for (const PassPart& part : *parts) {
      const Time kernels = longer(part.kernels);
      if (stretch.at_once) {
        if (part.of_copies()) continue;
        all.front().kernels += kernels;
        if (part.traffic) add_traffic(part);
      } else if (part.of_copies()) {
        next += part.alone;
      } else if (!part.traffic || !inner_->group(lane, *part.traffic).meets) {
        const Time alone = part.alone * part.times;
        next += part.at_once ? std::max(kernels, alone) : kernels + alone;
      } else {
        if (!part.at_once) next += kernels;
        add_kernels();
        if (part.at_once)
          all.push_back({kernels});
        else if (all.empty() || all.back().communications.empty() || all.back().kernels > Time{})
          all.emplace_back();
        add_traffic(part);
      }
    }
  if (stretch.at_once) all.front().kernels += stretch.time.exposed_copy;
  next += host;
  add_kernels();
  return all;
}

Lanes::Ends Lanes::add_parts(std::uint32_t lane, const Stretch& stretch, double slower, Time host, bool disturbed) {
  const auto longer = [&](Time time) { return slower == 1 ? time : from_seconds(to_seconds(time) * slower); };
  const TaskId begin = step.program.kernels(streams_[lane].compute, {});
  // Kernels so far; traffic that the next ones wait for, if it is not `begin`.
  TaskId done = begin, arrived = in_step(lane, begin);
  Time next{};                         // what these take
  CopyEnds copying{arrived, arrived};  // not yet waited for
  bool beside = false;                 // kernels run, or have run, beside what arrives: what comes next is after both
  const auto compute = [&] {
    done = kernels(lane, std::exchange(next, {}), disturbed);
    beside = false;
    if (arrived != begin) step.program.after(done, std::exchange(arrived, begin));
  };
  if (stretch.at_once) {
    TaskId last = arrived;
    for (const PassParts* parts : stretch.parts)
      for (const PassPart& part : *parts) {
        if (part.of_copies() && !simulates_copies()) continue;
        next += longer(part.kernels);
        if (part.awaits_copies && !part.copies.empty())  // nothing runs beside them: those of both passes come first
          arrived = join(add_copies(lane, part.copies, {arrived, arrived}), arrived);
        else
          copying = add_copies(lane, part.copies, copying);
        for (int turn = 0; part.traffic && turn < part.times; ++turn) last = add_inner(lane, *part.traffic, last);
      }
    if (!simulates_copies()) next += stretch.time.exposed_copy;
    compute();
    arrived = simulates_copies() ? join(copying, last) : last;
  } else {
    for (const PassParts* parts : stretch.parts)
      for (const PassPart& part : *parts) {
        const Time kernels = longer(part.kernels);
        if (part.of_copies()) {
          next += simulates_copies() ? kernels : part.alone;
          if (!simulates_copies()) continue;
          if (next > Time{}) compute();
          const TaskId ready = arrived != begin ? arrived : done;
          if (!part.copies.empty()) copying = add_copies(lane, part.copies, {ready, ready});
          if (part.awaits_copies) arrived = join(copying, ready);
          continue;
        }
        if (!part.traffic || !inner_->group(lane, *part.traffic).meets) {
          const Time alone = part.alone * part.times;
          next += part.at_once ? std::max(kernels, alone) : kernels + alone;
          continue;
        }
        if (!part.at_once) next += kernels;
        if (next > Time{} || ((part.at_once || beside) && arrived != begin)) compute();
        TaskId ready = arrived != begin ? arrived : done;
        if (part.at_once && kernels > Time{}) {
          next = kernels;
          compute();
          beside = true;
        }
        for (int turn = 0; turn < part.times; ++turn) ready = add_inner(lane, *part.traffic, ready);
        arrived = ready;
      }
  }
  next += host;
  compute();
  return {begin, done};
}

Lanes::CopyEnds Lanes::add_copies(std::uint32_t lane, std::span<const HostTraffic> copies, CopyEnds after) {
  for (const HostTraffic& copy : copies) {
    // On no stream, as other traffic that passes wait for.
    const TaskId task = step.program.communicate(std::span<const sim::StreamId>{}, inner_->copy(lane, copy));
    TaskId& before = after[copy.direction == topology::ToHost::yes ? 1 : 0];
    step.program.after(task, std::exchange(before, task));
  }
  return after;
}

TaskId Lanes::join(const CopyEnds& copies, TaskId other) {
  const TaskId all = step.program.moment();
  for (const TaskId task : {copies[0], copies[1], other}) step.program.after(all, task);
  return all;
}

LaneTask& Lanes::add_update_on_host(std::uint32_t lane) {
  const PassParts parts = update_in_parts(in, step.lanes[lane].at);
  Stretch update;
  update.parts.push_back(&parts);
  const Time host = on_host(s.software, s.software.host_per_step);
  const Ends ends = add_parts(lane, update, 1, host, false);
  LaneTask& task =
      step.lanes[lane].tasks.emplace_back(LaneTask{ends.first, ends.last, Activity::optimizer, 0, 0, {}, {}, {}, {}});
  task.exposed_host = host;
  return task;
}

TaskId Lanes::add_inner(std::uint32_t lane, const TensorCollective& collective, TaskId ready) {
  const InnerTraffic::Group& group = inner_->group(lane, collective);
  Joined& turns = inner_turns_.try_emplace(collective.among, count()).first->second;
  // On no stream: what it comes after keeps it in its place.
  const Joined::Turn turn = turns.next(lane, group.lanes.front(), [&] {
    return step.program.communicate(std::span<const sim::StreamId>{}, group.communication);
  });
  step.program.after(turn.task, ready);
  return turn.task;
}

void Lanes::prolong(std::uint32_t lane, std::span<const PassTime> passes, std::int64_t times) {
  PassTime once;
  for (const PassTime& pass : passes) {
    begin_pass(lane);
    once = once + with_host(lane, pass);
  }
  lengthen(lane, once * times);
}

void Lanes::lengthen(std::uint32_t lane, const PassTime& time) {
  LaneTask& last = step.lanes[lane].tasks.back();
  const Time held = host_waits_ ? Time{} : hosts_[lane].holds_up(time);
  step.program.prolong(last.task, time.duration + held);
  last.compute += time.compute;
  last.exposed_tensor += time.exposed_tensor;
  last.exposed_copy += time.exposed_copy;
  last.exposed_host += time.exposed_host + held;
  if (host_waits_) return;
  last.last = hosts_[lane].prolong(step.program, streams_[lane].compute, time);
  if (last.last != last.task) last.kernels = last.task;
}

LaneTask& Lanes::add_kernels(std::uint32_t lane, Activity activity, Time duration) {
  const TaskId task = step.program.kernels(streams_[lane].compute, duration);
  return step.lanes[lane].tasks.emplace_back(LaneTask{task, task, activity, 0, 0, duration, {}, {}, {}});
}

TaskId Lanes::transfer(std::span<const sim::StreamId> streams, const Declared& declared,
                       std::span<const workload::EngineId> engines) {
  ++step.times[index(declared.communication)];
  return step.program.communicate(streams, declared.communication, engines, slowdown_);
}

TaskId Lanes::collective(std::uint32_t lane, std::uint32_t leader, const Declared& declared, bool parameters,
                         std::optional<TaskId> ready, std::string_view name) {
  const Joined::Turn turn = (parameters ? gathers_ : sums_).next(lane, leader, [&] {
    std::vector<std::uint32_t>& members = members_[leader];
    if (members.empty()) members = groups.members(leader);
    joined_streams_.clear();
    joined_engines_.clear();
    for (const std::uint32_t member : members) {
      joined_streams_.push_back(parameters ? streams_[member].parameters : streams_[member].data);
      joined_engines_.push_back(streams_[member].engine);
    }
    return transfer(joined_streams_, declared, joined_engines_);
  });
  if (ready) step.program.after(turn.task, *ready);
  note(lane, {turn.task, parameters ? 3u : 2u, name, turn.number});
  return turn.task;
}

Lanes::Planned Lanes::planned(std::uint32_t lane, std::uint32_t virtual_stage) const {
  const std::uint32_t keeper = groups.leader(lane, virtual_stage);
  return {keeper, traffic.data[keeper], copies(shape) == 1 ? virtual_stage : 0};
}

}  // namespace stepcast::schedules
