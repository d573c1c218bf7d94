#include "app/read/files.h"
#include "topology/fabrics.h"

namespace stepcast::app {
namespace {

using topology::FabricSpec;

Names kind_names() {
  Names names;
  for (const topology::FabricBuilder* fabric : topology::fabrics()) names.push_back(fabric->name);
  return names;
}

}  // namespace

const Table<FabricSpec>& fabric_table() {
  static const Table<FabricSpec> table(
      "Fabric", "fabrics",
      {
          {{"name", text_type(), "", "what people call it"}, [](FabricSpec& f, const Value& v) { f.name = v.text; }},
          {{"kind", choice(kind_names), "one-switch", "how nodes are joined"},
           [](FabricSpec& f, const Value& v) { f.kind = v.text; }},
          {{"radix", whole(2, 4096), "40", "ports of one switch"},
           [](FabricSpec& f, const Value& v) { f.radix = static_cast<std::uint32_t>(v.whole); }},
          {{"oversubscription", number(1), "1", "bandwidth down over bandwidth up at the leaf switch"},
           [](FabricSpec& f, const Value& v) { f.oversubscription = v.number; }},
          {{"routing", choice([] {
              return Names{"adaptive", "hash"};
            }),
            "adaptive", "adaptive: equal paths share perfectly; hash: flows may collide"},
           [](FabricSpec& f, const Value& v) { f.routing = v.text; }},
          {{"switch_latency", time_type(), "0 ps", "one switch, port to port"},
           [](FabricSpec& f, const Value& v) { f.switch_latency = v.time; }},
          {{"cable_latency", time_type(), "0 ps", "one cable"},
           [](FabricSpec& f, const Value& v) { f.cable_latency = v.time; }},
          {{"source", text_type(), "", "where the numbers are from"},
           [](FabricSpec& f, const Value& v) { f.source = v.text; }},
      });
  return table;
}

const Schema& fabric_schema() { return fabric_table().schema; }

}  // namespace stepcast::app
