#pragma once

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "collectives/timing/timer.h"
#include "models/layers/kernels.h"
#include "schedules/parallel/ranks.h"
#include "workload/communication.h"

namespace stepcast::schedules {

/// The traffic inside the layers of one rank: among whom each collective runs, and what else runs beside it.
class LayerTraffic {
 public:
  LayerTraffic(const Scenario& scenario, const Ranks& ranks, Coordinate at);

  /// The answer stays as long as `timer` does.
  collectives::SharedTiming time(const TensorCollective& collective, const collectives::Timer& timer, bool fold) const;
  /// What it takes at least, whichever of its siblings run beside it, and whether or not some of them are late
  /// (workload::least_timing).
  collectives::SharedTiming least_time(const TensorCollective& collective, const collectives::Timer& timer,
                                       bool late) const;

  /// The duration alone, of which the folded one is no less (collectives::Timer::least).
  collectives::SharedTiming bound(const TensorCollective& collective, const collectives::Timer& timer) const;

  /// The same as a program has it: of the groups that ask, the rank is in one; the others of these meet it in a ring.
  workload::Communication communication(const TensorCollective& collective) const;

 private:
  using SharedGroups = std::shared_ptr<const std::vector<collectives::Group>>;

  /// Whether tokens go to their experts, or back, with one copy for each node; of so many bytes.
  bool by_way_of_nodes(const TensorCollective& collective) const;
  Bytes copies(const TensorCollective& collective) const;
  /// Of what its parts take by `timing_of`.
  using TimingOf = std::function<collectives::SharedTiming(const workload::Collective&)>;
  collectives::SharedTiming made_of(const TensorCollective& collective, const topology::Cluster& cluster,
                                    const TimingOf& timing_of) const;

  std::map<Among, SharedGroups> groups_;
  /// Who sends how much to whom, where experts' loads differ.
  std::map<Among, std::shared_ptr<const collectives::Details>> uneven_;
  double scale_ = 1;
  /// With a node limit, of the expert groups on several nodes: ranks of one node, ranks at one place of each, and
  /// copies for nodes over copies for experts.
  SharedGroups inside_, rails_;
  std::uint32_t own_inside_ = 0, own_rails_ = 0;  ///< of those, of the rank's own expert group: the first
  std::uint32_t ring_ = 1;                        ///< ranks that share a sequence
  double copies_share_ = 1;
  Time tensor_delay_{};  ///< what a collective among tensor ranks waits for besides
};

}  // namespace stepcast::schedules
