#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "collectives/timing/timer.h"
#include "topology/cluster.h"
#include "workload/communication.h"

namespace stepcast::search {

/// What the communications of a plan take, each alone, and what they load: as workload::Flows has them, without what
/// they do to each other. Collectives alone, one after the other.
class TrafficTimes {
 public:
  /// What communications take, or no more than that (collectives::Timer::least), of which nothing is simulated and
  /// which is found for those alone that are asked for. Then all groups count as taking the same time, and what links
  /// are loaded with is not known.
  enum class TimeWanted : std::uint8_t { time, least };

  /// The answers stay as long as `timer` does.
  TrafficTimes(std::span<const workload::Communication> communications, const collectives::Timer& timer,
               TimeWanted answer = TimeWanted::time);

  /// Whether all groups that run at the same time take the same time.
  bool alike() const { return alike_; }
  /// From now on of groups that take unlike times each takes what it takes at least (workload::least_timing), not what
  /// the last of them takes when all run at once. `late`: some of their ranks are late, so of all groups.
  void stand_alone(bool late);

  Time alone(workload::CommunicationId id) const {
    std::optional<Time>& known = alone_[workload::index(id)];
    if (!known) known = time_of(communications_[workload::index(id)], Each::least);
    return *known;
  }

  /// Whether groups take unlike times where each stands in a program by itself.
  bool unlike(workload::CommunicationId id) const;

  /// One after the other, begun by some ranks at the same moment: no less than they take alone, nor than the links that
  /// the groups with a rank of `together` share need for all of theirs. `capacities`: of links, by LinkId.
  Time begun_together(std::span<const workload::CommunicationId> ids, const std::vector<bool>& together,
                      std::span<const Bandwidth> capacities) const;
  /// Calls `see` with the timing of each collective, a const collectives::Timing& that stays as long as the timer does,
  /// and by how much it is multiplied.
  template <class See>
  void each_timing(workload::CommunicationId id, const See& see) const {
    for (const TimedPart& part : parts_[workload::index(id)]) see(*part.timing, part.scale);
  }

 private:
  struct TimedPart {
    const collectives::Timing* timing = nullptr;
    double scale = 1;
  };
  const collectives::Timing& together(const workload::Collective& collective) const;
  enum class Each : std::uint8_t { together, alone, late, least };
  Time time_of(const workload::Communication& communication, Each each) const;

  std::span<const workload::Communication> communications_;
  const collectives::Timer& timer_;
  mutable std::vector<std::optional<Time>> alone_;  ///< by CommunicationId
  std::vector<std::vector<TimedPart>> parts_;       ///< likewise
  bool alike_ = true;
};

}  // namespace stepcast::search
