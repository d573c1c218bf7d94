#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "topology/fabric.h"

namespace stepcast::topology {

/// Turns a FabricSpec into switches and links.
struct FabricBuilder {
  std::string_view name, summary;
  std::string_view source = {};
  /// The members of FabricSpec, as keys are called after them, that are for this kind to read. Those that say something
  /// of any fabric (name, switch_latency, in_network_reduction ...) are not among them.
  std::span<const std::string_view> reads = {};
  std::unique_ptr<const Fabric> (*build)(const FabricRequest& request) = nullptr;
};

/// All fabrics, in the order tables and help show them. A new fabric is a file of fabrics/ and a line of this list.
std::span<const FabricBuilder* const> fabrics();

/// Whether several paths of a fabric of this specification join two nodes, so that it matters how flows are spread.
bool has_several_paths(const FabricSpec& spec);

/// Whether a fabric of this specification draws a path for each flow, so that FabricSpec::seed matters.
bool hashes(const FabricSpec& spec);

/// Throws InputError for an unknown kind (with all names and the nearest one) and for fields out of range.
std::unique_ptr<const Fabric> build_fabric(const FabricRequest& request);

}  // namespace stepcast::topology
