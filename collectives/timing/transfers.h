#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "collectives/plan.h"
#include "sim/units.h"
#include "topology/cluster.h"

namespace stepcast::collectives {

struct Prepared;
struct Transport;

/// A collective of one group, transfer by transfer, for whoever simulates it among other traffic.
struct Transfers {
  struct LinkUse {
    topology::LinkId link{};
    double load = 1;   ///< bytes that cross the link for each byte that moves
    double share = 1;  ///< of the link's bandwidth that this collective reaches when it has the link to itself
  };
  /// What a connection's transfers cross.
  struct ConnectionRoute {
    std::vector<LinkUse> hops;
    Time latency{};  ///< occupies the connection
    Bandwidth limit{std::numeric_limits<double>::infinity()};
  };
  /// What a connection moves after its transfers: the pieces of a pipeline that the plan does not hold. No faster than
  /// one piece after the other would be, each of which waits for the latency again.
  struct Behind {
    Bytes bytes{};
    Bandwidth limit{std::numeric_limits<double>::infinity()};
  };

  Time before{};                      ///< launch and what else comes before the first transfer
  CollectivePlan plan;                ///< an element is a byte
  std::vector<ConnectionRoute> ways;  ///< by connection, as all below
  std::vector<Time> ahead;            ///< of a transfer, while the connection is still at work on the one before
  std::vector<Behind> behind;         ///< none: the plan holds all pieces

  /// How many there are, with those behind.
  std::size_t count() const { return plan.transfers.size() + behind.size(); }
};

/// Those of a group of the placement that `prepared` is of, and its place there. Requires a wiring of every group. Of a
/// pipeline of very many pieces only the first are in the plan.
Transfers transfers_of(const Prepared& prepared, const Transport& transport, Bytes bytes,
                       const topology::Cluster& cluster, const std::vector<topology::GpuId>& group,
                       std::uint32_t place);

}  // namespace stepcast::collectives
