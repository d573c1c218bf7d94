#include "language/configs/files.h"

namespace stepcast::language {

using topology::LinkKind;
using topology::LinkType;

const Table<LinkType>& link_table() {
  static const Table<LinkType> table(
      "Link", "links",
      {
          {{"name", text_type(), "", "what people call it"}, [](LinkType& l, const Value& v) { l.name = v.text; }},
          {{"kind", choice([] {
              return Names{"nvlink", "pcie", "socket", "network"};
            }),
            kRequired, "what it joins"},
           [](LinkType& l, const Value& v) { l.kind = static_cast<LinkKind>(v.choice); }},
          {{"bandwidth", bandwidth_type(), kRequired, "of one link in one direction, as the data sheet says"},
           [](LinkType& l, const Value& v) { l.bandwidth = v.bandwidth; }},
          {{"efficiency", fraction(), "1", "payload share of it that bulk transfers reach"},
           [](LinkType& l, const Value& v) { l.efficiency = v.number; }},
          {{"latency", time_type(), "0 ps", "one way through the link and the device at its far end"},
           [](LinkType& l, const Value& v) { l.latency = v.time; }},
          {{"source", text_type(), "", "where the numbers are from"},
           [](LinkType& l, const Value& v) { l.source = v.text; }},
      });
  return table;
}

const Schema& link_schema() { return link_table().schema; }

}  // namespace stepcast::language
