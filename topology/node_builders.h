#pragma once

#include <span>
#include <string_view>

#include "topology/graph.h"
#include "topology/spec.h"

namespace stepcast::topology {

/// Turns a NodeSpec into the graph of one node.
struct Builder {
  std::string_view name, summary;
  std::string_view source = {};  ///< where the wiring is drawn; empty where the spec itself is the wiring
  /// The members of NodeSpec, as keys are called after them, that are for this builder to read. Those that say
  /// something of any node (name, gpu, cpu, nic, nvlink_sharp ...) are not among them.
  std::span<const std::string_view> reads = {};
  Graph (*build)(const NodeSpec& node) = nullptr;
};

/// All builders, in the order tables and help show them. A new machine is a file of node_builders/ and a line here.
std::span<const Builder* const> builders();

/// Throws InputError with all names and the nearest one.
const Builder& find_builder(const NodeSpec& node);

}  // namespace stepcast::topology
