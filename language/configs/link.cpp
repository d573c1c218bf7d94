#include <utility>

#include "collectives/forced.h"
#include "language/configs/files.h"
#include "language/configs/forced_names.h"

namespace stepcast::language {

using topology::LinkKind;
using topology::LinkType;
using topology::NcclOverNetwork;

namespace {

template <auto member>
void store_nccl(LinkType& link, const Value& v) {
  link.nccl.*member = v.time;
}

}  // namespace

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
          {{"family", text_type(), "", "of a network: others of it tell what nobody measured of this one"},
           [](LinkType& l, const Value& v) { l.family = v.text; }},
          {{"nccl.simple", time_type(), "0 ps", "of a network: what one message by NCCL's Simple takes besides"},
           store_nccl<&NcclOverNetwork::simple>},
          {{"nccl.ll128", time_type(), "0 ps", "of a network: likewise by LL128"}, store_nccl<&NcclOverNetwork::ll128>},
          {{"nccl.ll", time_type(), "0 ps", "of a network: likewise by LL"}, store_nccl<&NcclOverNetwork::ll>},
          {{"nccl.messages", time_type(), "0 ps",
            "of a network: likewise one of send_recv, all_to_all, gather or scatter beyond 16 KiB"},
           store_nccl<&NcclOverNetwork::messages>},
          {{"nccl_plugin.latency", time_type(), "0 ps",
            "of a network: what the plugin through which NCCL uses it tells NCCL's model that a message takes"},
           [](LinkType& l, const Value& v) { l.nccl.plugin.latency = v.time; }},
          {{"nccl_plugin.algorithm", text_type(), "all",
            "of a network: what its plugin leaves of NCCL's algorithms, as transport.algorithm"},
           [](LinkType& l, const Value& v) {
             collectives::ForcedAlgorithms forced = forced_names(v, collectives::forced_algorithms);
             l.nccl.plugin.algorithms = std::move(forced.alone);
             l.nccl.plugin.without = std::move(forced.without);
           }},
          {{"nccl_plugin.protocol", text_type(), "all", "likewise of protocols, as transport.protocol"},
           [](LinkType& l, const Value& v) {
             l.nccl.plugin.protocols = forced_names(v, collectives::forced_protocols);
           }},
          {{"nccl_plugin.own_tuner", flag(), "false",
            "of a network: its plugin picks by measured tables, so algorithm nccl takes the fastest between nodes"},
           [](LinkType& l, const Value& v) { l.nccl.plugin.own_tuner = v.flag; }},
          {{"nccl.share", fraction(), "1", "of a network: share of the payload rate that NCCL's collectives reach"},
           [](LinkType& l, const Value& v) { l.nccl.share = v.number; }},
          {{"nccl.ll_share", fraction(), "1",
            "of a network: what LL, which goes through host memory, gets of its share of that"},
           [](LinkType& l, const Value& v) { l.nccl.ll_share = v.number; }},
          {{"source", text_type(), "", "where the numbers are from"},
           [](LinkType& l, const Value& v) { l.source = v.text; }},
      });
  return table;
}

const Schema& link_schema() { return link_table().schema; }

}  // namespace stepcast::language
