#include "topology/fabrics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "sim/input_error.h"
#include "topology/unknown_name.h"

namespace stepcast::topology {

extern const FabricBuilder one_switch_fabric;
extern const FabricBuilder rail_fat_tree_fabric;
extern const FabricBuilder rail_only_fabric;
extern const FabricBuilder fat_tree_fabric;
extern const FabricBuilder dragonfly_plus_fabric;
extern const FabricBuilder torus_fabric;
extern const FabricBuilder graph_fabric;

namespace {

/// Whether the fabric's kind makes something of this member of its specification.
bool reads(const FabricSpec& spec, std::string_view member) {
  const FabricBuilder* const fabric = find_fabric(spec.kind);
  return fabric != nullptr && std::ranges::find(fabric->reads, member) != fabric->reads.end();
}

}  // namespace

std::span<const FabricBuilder* const> fabrics() {
  static constexpr std::array list = {&one_switch_fabric, &rail_fat_tree_fabric,  &rail_only_fabric,
                                      &fat_tree_fabric,   &dragonfly_plus_fabric, &torus_fabric,
                                      &graph_fabric};
  return list;
}

const FabricBuilder* find_fabric(std::string_view kind) {
  const auto all = fabrics();
  const auto found = std::ranges::find(all, kind, &FabricBuilder::name);
  return found == all.end() ? nullptr : *found;
}

bool lists_nodes(const FabricSpec& spec) { return reads(spec, "switches"); }

bool has_several_paths(const FabricSpec& spec) { return reads(spec, "routing"); }

bool hashes(const FabricSpec& spec) { return spec.routing == "hash" && reads(spec, "seed"); }

std::unique_ptr<const Fabric> build_fabric(const FabricRequest& request) {
  const FabricSpec& spec = request.spec;
  if (spec.routing != "adaptive" && spec.routing != "hash" && spec.routing != "spray") {
    throw_unknown_name(spec.name, "routing", spec.routing, {"adaptive", "hash", "spray"});
  }
  if (spec.routing == "spray" && !spec.spray_efficiency) {
    throw InputError(spec.name,
                     "routing: found 'spray' without spray_efficiency, expected what sprayed paths carry of "
                     "what their links could, as the fabric fat-tree-eqds states it");
  }
  if (spec.spray_efficiency && !(*spec.spray_efficiency > 0 && *spec.spray_efficiency <= 1)) {
    throw InputError(spec.name, "spray_efficiency: must be above 0 and at most 1");
  }
  if (!(spec.oversubscription >= 1) || !std::isfinite(spec.oversubscription)) {
    throw InputError(spec.name, "oversubscription: must be 1 or more");
  }
  if (spec.switch_latency < Time{} || spec.cable_latency < Time{}) {
    throw InputError(spec.name, "latencies must be 0 or more");
  }
  if (const FabricBuilder* fabric = find_fabric(spec.kind)) return fabric->build(request);
  std::vector<std::string_view> names;
  for (const FabricBuilder* fabric : fabrics()) names.push_back(fabric->name);
  throw_unknown_name(spec.name, "fabric kind", spec.kind, names);
}

}  // namespace stepcast::topology
