#include <array>
#include <string_view>

#include "sim/input_error.h"
#include "topology/fabrics.h"
#include "topology/fabrics/clos.h"

namespace stepcast::topology {

namespace {

std::unique_ptr<const Fabric> build_fat_tree(const FabricRequest& request) {
  const std::uint64_t ends = std::uint64_t{request.nodes} * request.nics_per_node;
  if (ends > 0xffffffffu) throw InputError(request.spec.name, "more NICs than can be numbered");
  return std::make_unique<Clos>(request, clos_shape(request.spec, static_cast<std::uint32_t>(ends), 1));
}

std::unique_ptr<const Fabric> build_rail_only(const FabricRequest& request) {
  return std::make_unique<Clos>(request, clos_shape(request.spec, request.nodes, request.nics_per_node));
}

constexpr std::array<std::string_view, 6> kReads = {"radix",   "levels", "oversubscription",
                                                    "routing", "seed",   "spray_efficiency"};

}  // namespace

extern const FabricBuilder fat_tree_fabric;
constinit const FabricBuilder fat_tree_fabric{
    .name = "fat-tree",
    .summary = "all NICs of a node beside each other on the leaves of a folded Clos network",
    .source = "Ohring, Ibel, Das, Kumar, On Generalized Fat Trees, IPPS 1995",
    .reads = kReads,
    .build = build_fat_tree};

extern const FabricBuilder rail_only_fabric;
constinit const FabricBuilder rail_only_fabric{
    .name = "rail-only",
    .summary = "a network for NIC 0 of every node, one for NIC 1, and so on, which never meet",
    .source = "Wang et al., Rail-only, arXiv 2307.12169",
    .reads = kReads,
    .build = build_rail_only};

}  // namespace stepcast::topology
