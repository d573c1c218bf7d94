#pragma once

#include <cstdint>
#include <map>

#include "collectives/timing/timing.h"
#include "topology/cluster.h"

namespace stepcast::workload {

/// Links that carry less than they should: those of one node, between its network cards and the fabric.
class SlowLinks {
 public:
  /// `node`: its place among the nodes in use; requires it below cluster.nodes(). `speed`: what of their bandwidth its
  /// links have. O(GPUs + links of a node).
  SlowLinks(const topology::Cluster& cluster, std::uint32_t node, double speed);

  /// What of its bandwidth a link has.
  double speed(topology::LinkId link) const;
  /// A collective takes no less than its most loaded slow link needs for its bytes.
  collectives::Timing slowed(collectives::Timing timing) const;

 private:
  const topology::Cluster& cluster_;
  std::map<std::uint32_t, double> speeds_;
};

}  // namespace stepcast::workload
