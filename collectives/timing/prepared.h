#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "collectives/algorithm.h"
#include "collectives/timing/chooser.h"
#include "collectives/timing/placement.h"
#include "collectives/timing/play.h"
#include "collectives/timing/protocols.h"
#include "collectives/timing/timing.h"
#include "collectives/timing/wiring.h"

namespace stepcast::collectives {

/// How fast a group is at full rate, all channels at work.
struct Pace {
  double seconds_per_byte = 0;                                 ///< of the operation's size, on its busiest link
  Bandwidth slowest{std::numeric_limits<double>::infinity()};  ///< what its slowest connection could reach alone
};

/// An algorithm on a placement with a protocol, ready for any number of bytes.
struct Prepared {
  const Algorithm* algorithm = nullptr;
  Protocol protocol;
  Proto proto = Proto::simple;
  Request request;
  Wiring wiring;
  Prospect prospect;                  // at full rate: all channels
  double meant_seconds_per_byte = 0;  // the prospect's if no link were slow: what it is cut by
  std::vector<Pace> paces;            // by group: its own where a node is slow, else that of the slowest
  Time further_messages{};            // Protocol::message of all but the first of a rank
  std::uint32_t channels = 1;
  bool pipelines = false;               // cuts into pieces if asked to
  std::size_t transfers_per_piece = 1;  // of one channel, shift and group: the same folded and whole
  bool fold = true;
  std::vector<std::pair<topology::LinkId, std::uint32_t>> resources;  // of links, in the order of their ids
};

/// The smallest simulation that is exact: turned and shifted, shifted, or as it is; with groups standing for others.
/// Without `fold` as it is. `request` is of no particular number of elements.
Prepared prepare(const Algorithm& algorithm, Proto proto, const Request& request, const GroupPlacement& placement,
                 const topology::Cluster& cluster, const Transport& transport, bool fold);

/// How a prepared collective goes about some bytes.
struct Cut {
  Request request;   ///< of the pieces that are simulated: all of them, or the first of a long pipeline
  double scale = 1;  ///< of the wiring's rates: what the protocol leaves of them, and the channels at work
  Time before{};     ///< what comes before the transfers
  double whole = 1;  ///< bytes over those of the pieces that are simulated
  std::uint32_t pieces_behind = 0;  ///< that follow them
  double piece = 0;                 ///< bytes of each of these
  double part_of_channels = 1;      ///< that are at work
  Time moving{};             ///< all bytes, on the busiest link; asked for only where data passes through the ranks
  bool one_channel = false;  ///< so few bytes that NCCL uses one channel alone; likewise
};

/// As many channels as are fastest, cut into as many pieces.
Cut cut(const Prepared& prepared, const Transport& transport, Bytes bytes);

/// A prepared collective on some bytes, as it went.
struct Played {
  Time before{};             ///< what comes before the simulated transfers
  Time moving{};             ///< all bytes, on the busiest link
  bool one_channel = false;  ///< so few bytes that NCCL uses one channel alone
  double whole = 1;          ///< bytes over those of the simulated pieces
  double scale = 1;          ///< of the wiring's rates
  Outcome outcome;
};

/// The collective on so many bytes.
Played simulate(const Prepared& prepared, const Transport& transport, Bytes bytes);

/// What it comes to. With `own` it is that of these groups alone, by their places in the placement, while all run:
/// requires a wiring of every group.
Timing timing_of(const Prepared& prepared, const Played& played, std::span<const std::uint32_t> own = {});

/// What only some groups of a placement, by their places in it, send over each link, in the order of the links' ids:
/// nothing is folded and nothing simulated. `all`: what all groups of the placement do, in the same order.
/// O(connections of these groups).
std::vector<Timing::Load> loads_of(const Algorithm& algorithm, Request request, const GroupPlacement& placement,
                                   const topology::Cluster& cluster, const Transport& transport,
                                   std::span<const std::uint32_t> own, std::span<const Timing::Load> all);

/// What the protocol costs with the fewest channels.
Time fixed_time(const Transport& transport, const Protocol& protocol);

}  // namespace stepcast::collectives
