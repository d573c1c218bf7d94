#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "models/cost/pass.h"
#include "models/layers/kernels.h"
#include "schedules/step/lane_groups.h"
#include "schedules/step/step.h"
#include "schedules/step/traffic.h"
#include "workload/flows.h"

namespace stepcast::schedules {

/// Traffic inside layers and copies between GPUs and hosts, as communications of a step: those of the chunks which a
/// step's traffic has in parts, and of updates on the host.
class InnerTraffic {
 public:
  /// Adds to `traffic` every collective that its chunks hold.
  InnerTraffic(const StepInput& input, const LaneGroups& lanes, Traffic& traffic);

  struct Group {
    workload::CommunicationId communication{};
    std::vector<std::uint32_t> lanes;  ///< that take part, from the first
    bool meets = true;                 ///< other traffic, or lanes that are late, so that it must be simulated
  };
  /// With whom a lane takes part in a collective.
  const Group& group(std::uint32_t lane, const TensorCollective& collective) const;

  /// Of a lane's GPU.
  workload::CommunicationId copy(std::uint32_t lane, const HostTraffic& copy) const { return copies_.at({lane, copy}); }
  /// Whether copies are simulated: all of them, where any meets other traffic. Lanes must agree on it, since those that
  /// share traffic inside layers join it pass by pass.
  bool copies_meet() const { return copies_meet_; }

  /// Lanes that begin each pass together: they wait for each other many times in it, and their kernels or their other
  /// traffic take unlike times. Groups of a lane, in an order that is the same for all of its lanes; each by its first.
  std::span<const std::pair<Among, std::uint32_t>> in_step(std::uint32_t lane) const { return in_step_[lane]; }

  /// Whether ranks wait for each other in passes beside which nothing runs: each is in groups of several kinds (tensor
  /// and context, say), and those of one kind take unlike times, so that who waits in one group is late for the other.
  bool waits_in_every_pass() const { return waits_in_every_pass_; }

  /// Keeps in parts those chunks of `traffic` alone that hold what meets other traffic on some link. The rest takes
  /// the time that it takes alone. Whether there is anything left to simulate.
  bool keep_what_meets(const StepInput& input, const workload::Flows& flows, Traffic& traffic);

 private:
  using Key = std::tuple<std::uint32_t, Among, collectives::Operation, std::int64_t>;
  static Key key(std::uint32_t lane, const TensorCollective& c) { return {lane, c.among, c.operation, c.bytes.value}; }
  bool any_meets(std::uint32_t lane, const DataPlan& plan) const;
  /// Adds those of a part to `traffic`.
  void declare_copies(const StepInput& input, const LaneGroups& lanes, std::uint32_t lane, const PassPart& part,
                      Traffic& traffic);

  std::map<Key, Group> groups_;                                                        ///< as a lane asks
  std::map<std::pair<std::uint32_t, HostTraffic>, workload::CommunicationId> copies_;  ///< by lane
  bool copies_meet_ = false, waits_in_every_pass_ = false;
  std::vector<std::vector<std::pair<Among, std::uint32_t>>> in_step_;  ///< by lane
};

/// The copies and the rest of a lane's update on the host; nothing where the GPU updates.
PassParts update_in_parts(const StepInput& input, Coordinate lane);

/// What copies load in a step: of each stage those of its GPUs in its first one's node, or where ranks are unlike in
/// all of its nodes.
std::vector<collectives::Timing::Load> copied(const StepInput& input);

/// Whether traffic inside layers or copies to hosts might meet any other: there are some, and something runs beside
/// them.
bool inner_may_meet(const StepInput& input);

/// Whether ranks that share traffic inside layers come to it at unlike times, though nothing runs beside their passes:
/// each also waits for others in them, in a group of another kind or for its data ranks (whose `flows` these are), and
/// those take unlike times.
bool ranks_part(const StepInput& input, const workload::Flows& flows);

/// Chunks that nobody wants to see in parts.
void see_whole(Traffic& traffic);

}  // namespace stepcast::schedules
