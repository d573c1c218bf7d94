#include "language/configs/files.h"
#include "topology/fabrics.h"

namespace stepcast::language {
namespace {

using topology::FabricCables;
using topology::FabricSpec;
using topology::FabricSwitch;

constexpr std::int64_t kMostCables = 4096;

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

std::uint32_t count_of(const Value& v) { return static_cast<std::uint32_t>(v.whole); }

const Table<FabricSwitch>& switch_table() {
  static const Table<FabricSwitch> table(
      "Switch of a fabric", "",
      {
          {{"name", text_type(), kRequired, "what cables call it"},
           [](FabricSwitch& s, const Value& v) { s.name = v.text; }},
          {{"nodes", text_type(), "none", "those that plug into it, as Slurm writes lists: 'gpu[001-032]'"},
           [](FabricSwitch& s, const Value& v) { s.nodes = v.text; }},
          {{"nics", text_type(), "all", "which network cards of these nodes: '0', '0-3,6'"},
           [](FabricSwitch& s, const Value& v) { s.nics = v.text; }},
      });
  return table;
}

const Table<FabricCables>& cables_table() {
  static const Table<FabricCables> table(
      "Cables of a fabric", "",
      {
          {{"from", text_type(), kRequired, "switches, listed as nodes are: 'leaf[1-32]'"},
           [](FabricCables& c, const Value& v) { c.from = v.text; }},
          {{"to", text_type(), kRequired, "switches; each of from is joined to each of them, both ways"},
           [](FabricCables& c, const Value& v) { c.to = v.text; }},
          {{"bandwidth", bandwidth_type(), "a network card's", "of one cable in one direction, as the data sheet says"},
           [](FabricCables& c, const Value& v) { c.bandwidth = v.bandwidth; }},
          {{"count", whole(1, kMostCables), "1", "parallel cables of each pair"},
           [](FabricCables& c, const Value& v) { c.count = count_of(v); }},
      });
  return table;
}

const Schema& switch_schema() { return switch_table().schema; }
const Schema& cables_schema() { return cables_table().schema; }

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
            {{"switches", list_of_mappings("[{name: leaf0, nodes: 'n[0-7]'}]", switch_schema), "required of graph",
              "[{name, nodes, nics}, ...]; nodes are numbered as they are listed"},
             [](FabricSpec& f, const Value& v) { f.switches = read_list(switch_table(), v); }},
            {{"cables", list_of_mappings("[{from: 'leaf[0-3]', to: 'spine[0-1]', count: 8}]", cables_schema), "",
              "[{from, to, bandwidth, count}, ...]"},
             [](FabricSpec& f, const Value& v) { f.cables = read_list(cables_table(), v); }},
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
