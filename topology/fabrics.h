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
  /// Why it has no paths to spray packets over, as it goes on behind "found 'spray' with kind NAME, "; empty: it has.
  std::string_view sprays_nothing = {};
  /// Throws InputError("", "KEY: found ..., expected ...") for what keys of its own may not say of a fabric for so many
  /// nodes, where KEY is one such as "switches[2].nodes". Null: each value alone can be told to be right or wrong.
  void (*check)(const FabricSpec& spec, std::uint32_t nodes) = nullptr;
  std::unique_ptr<const Fabric> (*build)(const FabricRequest& request) = nullptr;
};

/// All fabrics, in the order tables and help show them. A new fabric is a file of fabrics/ and a line of this list.
std::span<const FabricBuilder* const> fabrics();

/// Whether several paths of a fabric of this specification join two nodes, so that it matters how flows are spread.
bool has_several_paths(const FabricSpec& spec);

/// Whether a fabric of this specification names its nodes, switch by switch, so that a job's nodes can be listed.
bool lists_nodes(const FabricSpec& spec);

/// The builder of a kind; null: there is none.
const FabricBuilder* find_fabric(std::string_view kind);

/// Whether a fabric of this specification draws a path for each flow, so that FabricSpec::seed matters.
bool hashes(const FabricSpec& spec);

/// Throws InputError for an unknown kind (with all names and the nearest one) and for fields out of range.
std::unique_ptr<const Fabric> build_fabric(const FabricRequest& request);

}  // namespace stepcast::topology
