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

/// Two halves of the machine: the first nodes, which send, and the others, which receive, each NIC at most `out` or
/// `in`.
struct Halves {
  std::uint32_t nodes = 0, senders = 0;
  Bandwidth out{}, in{};
};

/// The switches that join the nodes, and how traffic crosses them. Immutable once built.
class Fabric {
 public:
  virtual ~Fabric() = default;

  std::uint32_t switches = 0;
  std::vector<FabricLink> links;
  bool may_block = true;  ///< traffic of nodes that have no NIC in common may fill a link together
  bool rails = false;     ///< NIC i of every node is on leaf switches of rail i: senders change rail over NVLink first

  bool lists_nodes = false;  ///< which node is on which switch is a site's, not a rule's

  /// Name and kind of a switch. Requires a switch below `switches`.
  virtual Device device(std::uint32_t switch_index) const = 0;
  /// The switch that a NIC of a node plugs into.
  virtual std::uint32_t switch_of(std::uint32_t node, std::uint32_t nic) const = 0;
  /// Appends to `out` the places in `links` between two switches, first hop first; false where there is no way.
  /// `flow` names the traffic: hashed routing sends one flow one way. O(hops).
  virtual bool route(std::uint32_t from, std::uint32_t to, std::uint64_t flow,
                     std::vector<std::uint32_t>& out) const = 0;
  /// What can flow at once from one half of the nodes to the other over all ways, minimal or not: the fabric's own
  /// closed form of the maximum flow, where NICs are spent evenly. Requires senders < nodes. O(switches).
  virtual Bandwidth bisection(const Halves& halves) const = 0;
};

/// What a fabric is asked to join.
struct FabricRequest {
  FabricSpec spec;
  std::uint32_t nodes = 0, nics_per_node = 0;
  Bandwidth port{};       ///< what bulk transfers reach of one NIC's cable
  double efficiency = 1;  ///< their share of what the data sheet says, which other cables have too
};

}  // namespace stepcast::topology
