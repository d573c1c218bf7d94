#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "sim/units.h"
#include "topology/cluster.h"

namespace stepcast::collectives {

struct Prepared;
struct Transport;

/// A collective of one group, transfer by transfer, for whoever simulates it among other traffic. A transfer starts
/// when those it comes after and the one before it on its connection have ended.
struct Transfers {
  /// What a connection's transfers cross.
  struct Way {
    struct Hop {
      topology::LinkId link{};
      double load = 1;   ///< bytes that cross the link for each byte that moves
      double share = 1;  ///< of the link's bandwidth that this collective reaches when it has the link to itself
    };
    std::vector<Hop> hops;
    Time latency{};  ///< occupies the connection
    Time ahead{};    ///< before it, while the connection is still at work on the transfer before
    Bandwidth limit{std::numeric_limits<double>::infinity()};
  };
  struct Transfer {
    std::uint32_t connection = 0, way = 0;
    std::int64_t bytes = 0;
    std::uint32_t after_end = 0;  ///< in `after`; from where the transfer before it ends
  };

  Time before{};  ///< launch and what else comes before the first transfer
  std::uint32_t connections = 0;
  std::vector<Way> ways;
  std::vector<Transfer> transfers;   ///< each connection's in their order
  std::vector<std::uint32_t> after;  ///< transfers, each before those that come after it
};

/// Those of the group at this place of the placement that `prepared` is of. Requires a wiring of every group. Of a
/// pipeline of very many pieces only the first are there; what all others move over a connection follows as one
/// transfer, no faster than one piece after the other would be.
Transfers transfers_of(const Prepared& prepared, const Transport& transport, Bytes bytes, std::uint32_t group);

}  // namespace stepcast::collectives
