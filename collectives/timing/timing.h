#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sim/units.h"
#include "topology/cluster.h"

namespace stepcast::collectives {

/// What a collective costs when nothing but its siblings runs beside it.
struct Timing {
  Time duration{};  ///< launch to last byte
  Time latency{};   ///< what it would take with next to no bytes, same algorithm
  Time still{};     ///< of the duration: in which its busiest connection, or link, waits and moves nothing
  Time before{};    ///< of `still`: in front of all that moves, for launch and copies within a rank
  /// It moves in so many bursts: it waits `before`, and then (still - before) / bursts in front of each burst, which
  /// takes (duration - still) / bursts. 1: nobody knows better, or all the waiting is in front.
  std::uint32_t bursts = 1;
  /// Per repetition, if the same is launched again and again: what nccl-tests prints. Less than the duration where data
  /// only passes through the ranks (broadcast, reduce): the first is at work on the next while the last still waits.
  Time interval{};
  std::string algorithm;  ///< the one timed or chosen
  std::string protocol;   ///< "Simple", "LL128" or "LL"
  bool exact = true;      ///< folding changed nothing: no links that like flows use unlike
  /// Of the duration, the part by which the first of the concurrent groups ends before the last: 0 where all take the
  /// same time, as folded ones do by what folding is.
  double spread = 0;
  struct Load {
    topology::LinkId link{};
    double bytes = 0;  ///< that cross the link, all concurrent groups together
    /// Bytes that the link could carry in the time for which these occupy it: `bytes` over the share of its bandwidth
    /// that the collective reaches when it has the link to itself.
    double occupied = 0;
    double connections = 1;  ///< that cross it at once, and share what it can carry
  };
  std::vector<Load> loads;

  bool alike() const { return spread == 0; }
};

/// A timing of which several keep hold, so that its loads, which are many, are not copied.
using SharedTiming = std::shared_ptr<const Timing>;

/// A collective that takes `factor` times as long and uses its links to the same extent.
Timing scaled(Timing timing, double factor);

/// Two collectives of which the second passes on what the first brings as it comes: the two stages of a pipeline, of
/// which the slower one counts and the other's first part. A link that both cross is occupied for as long as both
/// occupy it. `cluster`: whose links they are.
Timing passed_on(Timing first, const Timing& second, const topology::Cluster& cluster);

/// Of a collective timed as if no node were slow: it takes no less than each slow link needs for its bytes.
Timing at_least_of_slow_links(Timing timing, const topology::Cluster& cluster);

}  // namespace stepcast::collectives
