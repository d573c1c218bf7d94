#pragma once

#include <cstdint>

namespace stepcast::topology {

/// A node whose network cards carry less than they should.
struct SlowNode {
  std::uint32_t node = 0;  ///< among those in use, in the order of Cluster::node_of
  double speed = 1;        ///< of its links to the fabric, in shares of their bandwidth, (0, 1]
  friend bool operator==(const SlowNode&, const SlowNode&) = default;
};

}  // namespace stepcast::topology
