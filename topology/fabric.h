#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "topology/graph.h"
#include "topology/spec.h"

namespace stepcast::topology {

/// One direction between two switches of a fabric.
struct FabricLink {
  std::uint32_t from = 0, to = 0;  ///< switches
  Bandwidth bandwidth{};
  Time latency{};  ///< the cable and the switch at its far end
};

/// The switches that join the nodes, and how traffic crosses them. Immutable once built.
class Fabric {
 public:
  virtual ~Fabric() = default;

  std::uint32_t switches = 0;
  std::vector<FabricLink> links;
  bool rails = false;  ///< NIC i of every node is on leaf switches of rail i: senders change rail over NVLink first

  /// Name and kind of a switch. Requires a switch below `switches`.
  virtual Device device(std::uint32_t switch_index) const = 0;
  /// The switch that a NIC of a node plugs into.
  virtual std::uint32_t switch_of(std::uint32_t node, std::uint32_t nic) const = 0;
  /// Appends to `out` the places in `links` between two switches, first hop first; false where there is no way.
  /// `flow` names the traffic: hashed routing sends one flow one way. O(hops).
  virtual bool route(std::uint32_t from, std::uint32_t to, std::uint64_t flow,
                     std::vector<std::uint32_t>& out) const = 0;
};

/// What a fabric is asked to join. `port` is what one NIC's cable carries.
struct FabricRequest {
  FabricSpec spec;
  std::uint32_t nodes = 0, nics_per_node = 0;
  Bandwidth port{};
};

}  // namespace stepcast::topology
