#include "topology/fabrics/written_graph.h"

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/connected_components.hpp>
#include <charconv>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "sim/in_quotes.h"
#include "sim/input_error.h"
#include "topology/hostlist.h"
#include "topology/unknown_name.h"

namespace stepcast::topology {
namespace {

constexpr std::size_t kMostSwitches = 10'000;
constexpr std::size_t kMostCables = 1'000'000;  // pairs of switches

using Numbers = std::unordered_map<std::string, std::uint32_t>;

[[noreturn]] void fail(const std::string& key, const std::string& what) { throw InputError("", key + ": " + what); }

std::string key_of(std::string_view list, std::size_t place, std::string_view key) {
  return std::string(list) + '[' + std::to_string(place) + "]." + std::string(key);
}

/// "0-3,6" as numbers.
std::vector<std::uint32_t> card_numbers(const std::string& text, const std::string& key) {
  if (text.empty()) return {};
  if (text.find_first_not_of("0123456789,-") != std::string::npos)
    fail(key, "found " + in_quotes(text) + ", expected numbers of network cards, as '0-3,6'");
  std::vector<std::uint32_t> numbers;
  for (const std::string& number : expand_hostlist("[" + text + "]", key)) {
    std::uint32_t value = 0;
    std::from_chars(number.data(), number.data() + number.size(), value);
    numbers.push_back(value);
  }
  return numbers;
}

void read_switches(const FabricSpec& spec, WrittenGraph& graph, Numbers& switches) {
  Numbers nodes;
  for (std::size_t i = 0; i < spec.switches.size(); ++i) {
    const FabricSwitch& one = spec.switches[i];
    const auto named = switches.emplace(one.name, static_cast<std::uint32_t>(graph.switches.size()));
    const std::uint32_t at = named.first->second;
    if (named.second)
      graph.switches.push_back(one.name);
    else if (one.nodes.empty() || one.nics.empty())
      fail(key_of("switches", i, "name"),
           "found " + in_quotes(one.name) +
               " a second time, expected it once, or with nodes and nics each time that it stands");
    if (one.nodes.empty()) continue;
    const std::vector<std::uint32_t> nics = card_numbers(one.nics, key_of("switches", i, "nics"));
    for (std::string& name : expand_hostlist(one.nodes, key_of("switches", i, "nodes"))) {
      const auto known = nodes.emplace(name, static_cast<std::uint32_t>(graph.nodes.size()));
      if (known.second) graph.nodes.push_back(std::move(name));
      graph.plugs.push_back({known.first->second, at, nics});
    }
  }
}

std::vector<std::uint32_t> named_switches(const std::string& list, const std::string& key, const WrittenGraph& graph,
                                          const Numbers& switches) {
  std::vector<std::uint32_t> found;
  for (const std::string& name : expand_hostlist(list, key)) {
    const auto known = switches.find(name);
    if (known == switches.end())
      throw_unknown_name("", key + ": switch", name, {graph.switches.begin(), graph.switches.end()});
    found.push_back(known->second);
  }
  return found;
}

}  // namespace

WrittenGraph read_written_graph(const FabricSpec& spec) {
  if (spec.switches.empty())
    fail("switches", "missing, with kind graph; expected a list such as [{name: leaf0, nodes: n[0-7]}]");
  if (spec.switches.size() > kMostSwitches) fail("switches", "found more than 10000 switches, expected fewer");
  WrittenGraph graph;
  Numbers switches;
  read_switches(spec, graph, switches);
  if (graph.nodes.empty())
    fail("switches", "found no nodes on any switch, expected some: {name: leaf0, nodes: n[0-7]}");
  for (std::size_t i = 0; i < spec.cables.size(); ++i) {
    const FabricCables& cables = spec.cables[i];
    const auto from = named_switches(cables.from, key_of("cables", i, "from"), graph, switches);
    const auto to = named_switches(cables.to, key_of("cables", i, "to"), graph, switches);
    if (graph.cables.size() + from.size() * to.size() > kMostCables)
      fail(key_of("cables", i, "to"), "found more than 1000000 pairs of switches, expected fewer");
    for (const std::uint32_t a : from) {
      for (const std::uint32_t b : to) {
        if (a == b)
          fail(key_of("cables", i, "to"), "found a cable from " + in_quotes(graph.switches[a]) + " to itself");
        graph.cables.push_back({a, b, cables.bandwidth, cables.count});
      }
    }
  }
  return graph;
}

std::vector<std::uint32_t> connected_parts(const WrittenGraph& graph) {
  boost::adjacency_list<boost::vecS, boost::vecS, boost::undirectedS> switches(graph.switches.size());
  for (const WrittenGraph::Cables& pair : graph.cables) boost::add_edge(pair.a, pair.b, switches);
  std::vector<std::uint32_t> parts(graph.switches.size());
  boost::connected_components(switches, parts.data());
  return parts;
}

}  // namespace stepcast::topology
