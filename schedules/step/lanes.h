#pragma once

#include <array>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "schedules/step/host_queue.h"
#include "schedules/step/inner_traffic.h"
#include "schedules/step/joined.h"
#include "schedules/step/lane_groups.h"
#include "schedules/step/step.h"
#include "schedules/step/traffic.h"

namespace stepcast::schedules {

/// The simulated ranks of a step that is being built: the tasks on each one's streams, and the traffic that lanes make
/// and join.
class Lanes {
 public:
  Lanes(const StepInput& input, const Traffic& traffic, const InnerTraffic* inner);

  std::uint32_t count() const { return static_cast<std::uint32_t>(step.lanes.size()); }
  Lane& operator[](std::uint32_t lane) { return step.lanes[lane]; }
  sim::TaskId last_task(std::uint32_t lane) const { return step.lanes[lane].tasks.back().last; }
  const Gpu& gpu(std::uint32_t lane) const { return gpu_of(s.cluster, in.ranks.gpu(step.lanes[lane].at)); }

  /// Whether gradients are summed at all, and whether that runs beside compute.
  bool several_data_ranks() const;
  bool overlaps() const { return several_data_ranks() && data_overlap(s); }

  /// What a lane's next task takes on its own GPU.
  template <class PassTimeOrTime>
  PassTimeOrTime straggling(std::uint32_t lane, const PassTimeOrTime& time) const {
    if (in.stragglers == nullptr) return time;
    return in.stragglers->slowed(step.lanes[lane].at, step.lanes[lane].tasks.size(), time);
  }
  /// What a lane does from here on belongs to one pass more.
  void begin_pass(std::uint32_t lane) { ++begun_[lane]; }
  /// What the host needs to launch so many collectives of a pass.
  PassTime launch_of_collectives(std::int64_t count) const;
  /// A stretch of compute on a lane. `disturbed`: traffic runs beside it and may slow it.
  LaneTask& add_compute(std::uint32_t lane, const Pass& pass, const Stretch& undisturbed, bool disturbed);
  /// The lane's last task, which nothing disturbs, takes so much longer: another pass right behind it.
  void prolong(std::uint32_t lane, const PassTime& more) { lengthen(lane, with_host(lane, more)); }
  /// The same with passes that begin now, all of them `times` times. Requires times > 0.
  void prolong(std::uint32_t lane, std::span<const PassTime> passes, std::int64_t times);
  /// When the lane's host has launched all of its passes. Nothing: no later than they have ended.
  std::optional<sim::TaskId> launched(std::uint32_t lane);
  /// Whether copies between GPUs and their hosts are simulated.
  bool simulates_copies() const { return inner_ != nullptr && inner_->copies_meet(); }
  /// Whether ranks wait for each other in passes beside which nothing runs.
  bool waits_in_every_pass() const { return inner_ != nullptr && inner_->waits_in_every_pass(); }
  /// The update by the host, with its copies. Requires copies that are simulated.
  LaneTask& add_update_on_host(std::uint32_t lane);
  /// Kernels that belong to no pass.
  LaneTask& add_kernels(std::uint32_t lane, Activity activity, Time duration);
  /// The lane's next stretch of compute waits for this.
  void block(std::uint32_t lane, sim::TaskId until) { blocked_by_[lane] = until; }

  struct Streams {
    sim::StreamId compute{}, pipeline{}, data{}, parameters{};
    workload::EngineId engine{};  ///< of compute that traffic may slow
  };
  const Streams& streams(std::uint32_t lane) const { return streams_[lane]; }

  sim::TaskId transfer(std::span<const sim::StreamId> streams, const Declared& declared,
                       std::span<const workload::EngineId> engines = {});
  /// The group's next collective, after `ready` (if any), joined by the lane. `parameters`: on the stream of these.
  sim::TaskId collective(std::uint32_t lane, std::uint32_t leader, const Declared& declared, bool parameters,
                         std::optional<sim::TaskId> ready, std::string_view name);
  /// For the trace.
  void note(std::uint32_t lane, const LaneTraffic& sent) {
    if (in.trace || in.record) step.lanes[lane].traffic.push_back(sent);
  }

  /// A virtual stage's traffic: its plan, and which of the plan's virtual stages it is.
  struct Planned {
    std::uint32_t leader = 0;
    const DataPlan& plan;
    std::uint32_t virtual_stage = 0;
  };
  Planned planned(std::uint32_t lane, std::uint32_t virtual_stage) const;

  const StepInput& in;
  const Scenario& s;
  const Shape shape;
  const LaneGroups groups;
  const Traffic& traffic;
  Step step;

 private:
  struct Ends {
    sim::TaskId first{}, last{};
  };
  sim::TaskId kernels(std::uint32_t lane, Time duration, bool disturbed) {
    const Streams& streams = streams_[lane];
    return disturbed && slowdown_ > 0 ? step.program.kernels(streams.compute, streams.engine, duration)
                                      : step.program.kernels(streams.compute, duration);
  }
  /// With what the host does at the beginning of passes, and with what it holds up where it has waited for the GPU.
  PassTime with_host(std::uint32_t lane, const PassTime& pass);
  void lengthen(std::uint32_t lane, const PassTime& time);
  /// When all lanes that begin a pass together have come so far; the lane itself has come to `ready`.
  sim::TaskId in_step(std::uint32_t lane, sim::TaskId ready);
  /// The stretch with the traffic in it that meets other traffic, kernels `slower` times as long and, at its end, what
  /// the host holds up.
  Ends add_parts(std::uint32_t lane, const Stretch& stretch, double slower, Time host, bool disturbed);
  /// A stretch of a lane: what it is made of, how much longer its kernels take, what the host holds up at its end, and
  /// whether traffic beside it slows its kernels.
  struct StretchOfLane {
    std::uint32_t lane = 0;
    std::span<const PassParts* const> parts{};
    bool at_once = false, slowed = false;
    double slower = 1;
    Time host{};
    bool operator==(const StretchOfLane& other) const;
  };
  struct HashOfStretch {
    std::size_t operator()(const StretchOfLane& of) const;
  };
  /// The stretch as one sequence. Nothing where others than the lane take part in its traffic, or its kernels are on an
  /// engine.
  std::optional<sim::SequenceId> sequence_of(const StretchOfLane& of, const Stretch& stretch);
  bool is_sequence(const StretchOfLane& of) const;
  /// What add_parts() makes tasks of.
  std::vector<workload::Program::Stint> stints(std::uint32_t lane, const Stretch& stretch, double slower,
                                               Time host) const;
  /// Traffic inside a layer, which each of its lanes joins once it has come so far.
  sim::TaskId add_inner(std::uint32_t lane, const TensorCollective& collective, sim::TaskId ready);
  /// The last copy each way: from the host, to it.
  using CopyEnds = std::array<sim::TaskId, 2>;
  /// Each way one after the other, after what is `after`.
  CopyEnds add_copies(std::uint32_t lane, std::span<const HostTraffic> copies, CopyEnds after);
  /// When all of these have ended.
  sim::TaskId join(const CopyEnds& copies, sim::TaskId other);

  const bool host_waits_;             ///< for the GPU before each pass: it is never ahead
  std::vector<HostQueue> hosts_;      ///< by lane
  std::vector<std::uint32_t> begun_;  ///< passes that have no kernels yet, by lane
  const double slowdown_;             ///< of compute, by traffic that runs beside it
  std::vector<Streams> streams_;
  std::vector<std::vector<std::uint32_t>> members_;  ///< of the group that a lane leads; made at first use
  std::vector<sim::StreamId> joined_streams_;        ///< of one collective, kept for their memory
  std::vector<workload::EngineId> joined_engines_;
  Joined sums_, gathers_;                ///< by the group's leader
  const InnerTraffic* inner_;            ///< none: it meets no other
  std::map<Among, Joined> inner_turns_;  ///< all lanes of a group ask in the same order
  std::map<Among, Joined> begins_;       ///< of passes, likewise
  std::unordered_map<StretchOfLane, std::optional<sim::SequenceId>, HashOfStretch> sequences_;
  std::deque<std::vector<const PassParts*>> parts_of_sequences_;  ///< what their keys refer to
  std::vector<std::optional<sim::TaskId>> blocked_by_;            ///< by lane
};

}  // namespace stepcast::schedules
