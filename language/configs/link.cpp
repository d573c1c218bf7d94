#include <algorithm>
#include <type_traits>
#include <utility>
#include <vector>

#include "collectives/forced.h"
#include "language/configs/files.h"
#include "language/configs/forced_names.h"
#include "language/core/library.h"
#include "sim/input_error.h"

namespace stepcast::language {

using topology::LinkKind;
using topology::LinkType;
using topology::NcclOverNetwork;

namespace {

constexpr const char* kAll = "all";  // a plugin leaves NCCL its whole choice

template <auto member>
void store_nccl(LinkType& link, const Value& v) {
  link.nccl.*member = v.time;
}

/// The networks of configs/links/ that say what they cost NCCL.
const std::vector<LinkType>& told_networks(Library& library) {
  return library.once<std::vector<LinkType>>("networks that say nccl", [&] {
    std::vector<LinkType> told;
    for (const std::string& name : library.names("links")) {
      try {
        const Node file = library.expand_block(make_scalar(name, {"links", 0, 0}), link_schema(), "");
        const Node* const nccl = file.find("nccl");
        if (nccl == nullptr || nccl->entries.empty()) continue;
        LinkType link;
        read(link_table(), file, "", library, link);
        if (link.kind == LinkKind::network) told.push_back(std::move(link));
      } catch (const InputError&) {  // whoever names that file is told what is wrong with it
      }
    }
    return told;
  });
}

Time middle(Time a, Time b) { return picoseconds((a.value + b.value) / 2); }
double middle(double a, double b) { return (a + b) / 2; }

template <class T>
T median_of(std::vector<T> values) {
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : middle(values[half - 1], values[half]);
}

void take_from_others(LinkType& link, Library& library) {
  std::vector<LinkType> others = told_networks(library);
  const std::string of_family = "of family " + link.family;
  const bool kin = !link.family.empty() && std::ranges::find(others, link.family, &LinkType::family) != others.end();
  if (kin) std::erase_if(others, [&](const LinkType& other) { return other.family != link.family; });
  if (others.empty()) return;
  const auto median = [&](auto member) {
    std::vector<std::decay_t<decltype(link.nccl.*member)>> values;
    for (const LinkType& other : others) values.push_back(other.nccl.*member);
    return median_of(std::move(values));
  };
  link.nccl.simple = median(&NcclOverNetwork::simple);
  link.nccl.ll128 = median(&NcclOverNetwork::ll128);
  link.nccl.ll = median(&NcclOverNetwork::ll);
  link.nccl.messages = median(&NcclOverNetwork::messages);
  link.nccl.share = median(&NcclOverNetwork::share);
  link.nccl.ll_share = median(&NcclOverNetwork::ll_share);
  link.nccl_assumed = "the median of the " + std::to_string(others.size()) + " networks " +
                      (kin                   ? of_family
                       : link.family.empty() ? "there are, as no family is named"
                                             : "there are, as none " + of_family + " says it");
}

}  // namespace

const Table<LinkType>& link_table() {
  static const Table<LinkType> table = [] {
    Table<LinkType> made(
        "Link", "links",
        {
            {{"name", text_type(), "", "what people call it"}, [](LinkType& l, const Value& v) { l.name = v.text; }},
            {{"kind", choice([] {
                return Names{"nvlink", "pcie", "c2c", "socket", "network"};
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
            {{"nccl.simple", time_type(), "0 ps; without nccl: as the family",
              "of a network: what one message by NCCL's Simple takes besides"},
             store_nccl<&NcclOverNetwork::simple>},
            {{"nccl.ll128", time_type(), "0 ps", "of a network: likewise by LL128"},
             store_nccl<&NcclOverNetwork::ll128>},
            {{"nccl.ll", time_type(), "0 ps", "of a network: likewise by LL"}, store_nccl<&NcclOverNetwork::ll>},
            {{"nccl.messages", time_type(), "0 ps",
              "of a network: likewise one of send_recv, all_to_all, gather or scatter beyond 16 KiB"},
             store_nccl<&NcclOverNetwork::messages>},
            {{"nccl_plugin.latency", time_type(), "0 ps",
              "of a network: what the plugin through which NCCL uses it tells NCCL's model that a message takes"},
             [](LinkType& l, const Value& v) { l.nccl.plugin.latency = v.time; }},
            {{"nccl_plugin.algorithm", text_type(), kAll,
              "of a network: what its plugin leaves of NCCL's algorithms, as transport.algorithm"},
             [](LinkType& l, const Value& v) {
               if (v.text == kAll) return;
               collectives::ForcedAlgorithms forced = forced_names(v, collectives::forced_algorithms);
               l.nccl.plugin.algorithms = std::move(forced.alone);
               l.nccl.plugin.without = std::move(forced.without);
             }},
            {{"nccl_plugin.protocol", text_type(), kAll, "likewise of protocols, as transport.protocol"},
             [](LinkType& l, const Value& v) {
               if (v.text != kAll) l.nccl.plugin.protocols = forced_names(v, collectives::forced_protocols);
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
    made.schema.dependents = {
        {"family", "kind"}, {"nccl", "kind"}, {"nccl", "family"}, {"nccl_plugin", "kind"}, {"nccl_plugin", "family"}};
    return made;
  }();
  return table;
}

LinkType read_link(const Value& value) {
  LinkType link = read_block(link_table(), value);
  if (link.name.empty()) link.name = value.text;
  if (link.kind == LinkKind::network && value.node->find("nccl") == nullptr) take_from_others(link, *value.library);
  return link;
}

const Schema& link_schema() { return link_table().schema; }

}  // namespace stepcast::language
