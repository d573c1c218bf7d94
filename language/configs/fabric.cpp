#include "language/configs/files.h"
#include "topology/fabrics.h"

namespace stepcast::language {
namespace {

using topology::FabricSpec;

Names kind_names() {
  Names names;
  for (const topology::FabricBuilder* fabric : topology::fabrics()) names.push_back(fabric->name);
  return names;
}

std::optional<Names> keys_of_kind(std::string_view kind) {
  for (const topology::FabricBuilder* fabric : topology::fabrics())
    if (fabric->name == kind) return Names(fabric->reads.begin(), fabric->reads.end());
  return {};
}

}  // namespace

const Table<FabricSpec>& fabric_table() {
  static const Table<FabricSpec> table = [] {
    Table<FabricSpec> made(
        "Fabric", "fabrics",
        {
            {{"name", text_type(), "", "what people call it"}, [](FabricSpec& f, const Value& v) { f.name = v.text; }},
            {{"kind", choice(kind_names), "one-switch", "how nodes are joined"},
             [](FabricSpec& f, const Value& v) { f.kind = v.text; }},
            {{"radix", whole(2, 4096), "40", "ports of one switch"},
             [](FabricSpec& f, const Value& v) { f.radix = static_cast<std::uint32_t>(v.whole); }},
            {{"levels", whole(0, 6), "0", "0: as few as reach all nodes"},
             [](FabricSpec& f, const Value& v) { f.levels = static_cast<std::uint32_t>(v.whole); }},
            {{"groups", whole(0, 4096), "0", "at least; 0: as few as hold all nodes"},
             [](FabricSpec& f, const Value& v) { f.groups = static_cast<std::uint32_t>(v.whole); }},
            {{"torus", text_type(), "", "routers along each side, '8x8' or '4x4x8'"},
             [](FabricSpec& f, const Value& v) { f.torus = v.text; }},
            {{"oversubscription", number(1), "1", "bandwidth down over bandwidth up at the leaf switch"},
             [](FabricSpec& f, const Value& v) { f.oversubscription = v.number; }},
            {{"routing", choice([] {
                return Names{"adaptive", "hash", "spray"};
              }),
              "adaptive",
              "adaptive: equal paths share perfectly; hash: flows may collide; spray: each packet draws its path"},
             [](FabricSpec& f, const Value& v) { f.routing = v.text; }},
            {{"seed", whole(0), "0", "routing hash: which of the possible hashings"},
             [](FabricSpec& f, const Value& v) { f.seed = static_cast<std::uint64_t>(v.whole); }},
            {{"spray_efficiency", number(0.01, 1), "",
              "routing spray, which needs it: what equal paths carry together, of what their links could"},
             [](FabricSpec& f, const Value& v) { f.spray_efficiency = v.number; }},
            {{"in_network_reduction", flag(), "false",
              "its switches add up what nodes push to them (SHARP switched on), as the algorithm sharp needs"},
             [](FabricSpec& f, const Value& v) { f.in_network_reduction = v.flag; }},
            {{"switch_latency", time_type(), "0 ps", "one switch, port to port"},
             [](FabricSpec& f, const Value& v) { f.switch_latency = v.time; }},
            {{"cable_latency", time_type(), "0 ps", "one cable"},
             [](FabricSpec& f, const Value& v) { f.cable_latency = v.time; }},
            {{"source", text_type(), "", "where the numbers are from"},
             [](FabricSpec& f, const Value& v) { f.source = v.text; }},
        },
        {}, {{"seed", "routing", "hash"}, {"spray_efficiency", "routing", "spray"}});
    made.schema.reader = Reader{
        "kind", {"name", "kind", "in_network_reduction", "switch_latency", "cable_latency", "source"}, keys_of_kind};
    return made;
  }();
  return table;
}

const Schema& fabric_schema() { return fabric_table().schema; }

}  // namespace stepcast::language
