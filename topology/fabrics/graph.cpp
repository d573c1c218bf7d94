#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/in_quotes.h"
#include "sim/input_error.h"
#include "topology/fabrics.h"
#include "topology/fabrics/sharing.h"
#include "topology/fabrics/written_graph.h"
#include "topology/maximum_flow.h"
#include "topology/random_pick.h"

namespace stepcast::topology {
namespace {

constexpr std::uint32_t kFar = std::numeric_limits<std::uint32_t>::max();
constexpr std::size_t kMostLinks = 1'000'000;       // of the fabric
constexpr std::size_t kMostDistances = 64'000'000;  // switches x leaf switches

using Neighbours = std::vector<std::vector<std::uint32_t>>;

Neighbours neighbours(std::size_t switches, const std::vector<WrittenGraph::Cables>& cables) {
  Neighbours all(switches);
  for (const WrittenGraph::Cables& pair : cables) {
    all[pair.a].push_back(pair.b);
    all[pair.b].push_back(pair.a);
  }
  return all;
}

/// [switch]: cables to the nearest of `from`.
std::vector<std::uint32_t> distances(const Neighbours& near, const std::vector<std::uint32_t>& from) {
  std::vector<std::uint32_t> distance(near.size(), kFar), queue = from;
  for (const std::uint32_t at : from) distance[at] = 0;
  for (std::size_t i = 0; i < queue.size(); ++i) {
    for (const std::uint32_t next : near[queue[i]]) {
      if (distance[next] != kFar) continue;
      distance[next] = distance[queue[i]] + 1;
      queue.push_back(next);
    }
  }
  return distance;
}

/// Joins switches of a level, above the leaves, that some leaf switch reaches upwards: the place of each in `group`.
std::vector<std::uint32_t> joined_parents(const Neighbours& near, const std::vector<std::uint32_t>& level,
                                          const std::vector<std::uint32_t>& leaves) {
  std::vector<std::uint32_t> group(near.size());
  std::iota(group.begin(), group.end(), 0u);
  const auto root = [&](std::uint32_t at) {
    while (group[at] != at) at = group[at] = group[group[at]];
    return at;
  };
  for (const std::uint32_t leaf : leaves) {
    std::vector<std::uint32_t> here{leaf};
    for (std::uint32_t up = 1; !here.empty(); ++up) {
      std::vector<std::uint32_t> above;
      for (const std::uint32_t at : here)
        for (const std::uint32_t next : near[at])
          if (level[next] == up) above.push_back(next);
      std::ranges::sort(above);
      above.erase(std::unique(above.begin(), above.end()), above.end());
      for (const std::uint32_t one : above)
        group[std::max(root(one), root(above[0]))] = std::min(root(one), root(above[0]));
      here = std::move(above);
    }
  }
  for (std::uint32_t at = 0; at < group.size(); ++at) group[at] = root(at);
  return group;
}

/// Switches and cables as a file lists them, any graph. Ways are those of the fewest cables. Adaptive and sprayed
/// routing is one wide switch in the place of all of a level that a leaf switch reaches, and one wide link in the place
/// of all cables between two; hashed routing draws every switch on the way, and every cable, by the flow.
class GraphFabric final : public Fabric {
 public:
  GraphFabric(const FabricRequest& request, const WrittenGraph& graph)
      : name_(request.spec.name),
        nics_(request.nics_per_node),
        hash_(!shares_paths(request.spec)),
        port_(request.port) {
    lists_nodes = true;
    plug_in(graph, request.nodes);
    std::vector<std::uint32_t> leaves;
    for (const WrittenGraph::Plug& plug : graph.plugs) leaves.push_back(plug.at);
    std::ranges::sort(leaves);
    leaves.erase(std::unique(leaves.begin(), leaves.end()), leaves.end());
    const Neighbours near = neighbours(graph.switches.size(), graph.cables);
    const std::vector<std::uint32_t> level = distances(near, leaves);
    number_switches(graph, level, hash_ ? std::vector<std::uint32_t>() : joined_parents(near, level, leaves));
    for (std::uint32_t& at : plugged_) at = number_[at];
    lay_cables(request, graph);
    find_ways(graph, leaves);
    rails = on_rails();
    may_block = request.spec.routing != "adaptive" || blocks();
  }

  Device device(std::uint32_t index) const override {
    const std::uint32_t level = level_[index];
    return {names_[index], level == 0 ? DeviceKind::leaf : level == 1 ? DeviceKind::spine : DeviceKind::core};
  }

  std::uint32_t switch_of(std::uint32_t node, std::uint32_t nic) const override {
    return plugged_[std::size_t{node} * nics_ + nic];
  }

  bool route(std::uint32_t from, std::uint32_t to, std::uint64_t flow, std::vector<std::uint32_t>& out) const override {
    const std::vector<std::uint32_t>& distance = distance_[leaf_[to]];
    if (distance[from] == kFar) return false;
    for (std::uint32_t at = from, hop = 0; at != to; ++hop) {
      std::vector<std::uint32_t> nearer;
      for (const std::uint32_t link : leaving_[at]) {
        if (distance[links[link].to] + 1 != distance[at]) continue;
        nearer.push_back(link);
        if (!hash_) break;
      }
      out.push_back(nearer[hash_ ? pick(flow, hop, static_cast<std::uint32_t>(nearer.size())) : 0]);
      at = links[out.back()].to;
    }
    return true;
  }

  Bandwidth bisection(const Halves& halves) const override {
    const std::size_t source = switches, sink = source + 1;
    MaximumFlow flow(sink + 1);
    for (const FabricLink& link : links) flow.add(link.from, link.to, link.bandwidth.value);
    std::vector<Bandwidth> out(switches), in(switches);
    for (std::uint32_t node = 0; node < halves.nodes; ++node)
      for (std::uint32_t nic = 0; nic < nics_; ++nic) {
        const std::uint32_t at = switch_of(node, nic);
        if (node < halves.senders)
          out[at] += halves.out;
        else
          in[at] += halves.in;
      }
    for (std::uint32_t at = 0; at < switches; ++at) {
      flow.add(source, at, out[at].value);
      flow.add(at, sink, in[at].value);
    }
    return flow.run(source, sink);
  }

 private:
  /// plugged_, in the numbers of the file.
  void plug_in(const WrittenGraph& graph, std::uint32_t nodes) {
    if (nodes > graph.nodes.size())
      throw InputError(name_, "switches: found " + std::to_string(graph.nodes.size()) +
                                  " nodes on them, expected the " + std::to_string(nodes) + " of the cluster");
    plugged_.assign(graph.nodes.size() * nics_, kFar);
    std::vector<std::uint32_t> every(nics_);
    std::iota(every.begin(), every.end(), 0u);
    for (const WrittenGraph::Plug& plug : graph.plugs) {
      for (const std::uint32_t nic : plug.nics.empty() ? every : plug.nics) {
        const auto whose = [&] {
          return "network card " + std::to_string(nic) + " of node " + in_quotes(graph.nodes[plug.node]);
        };
        if (nic >= nics_)
          throw InputError(name_,
                           "switches: found " + whose() + ", expected cards below the node's " + std::to_string(nics_));
        std::uint32_t& at = plugged_[std::size_t{plug.node} * nics_ + nic];
        if (at != kFar)
          throw InputError(name_, "switches: found " + whose() + " on " + in_quotes(graph.switches[at]) + " and on " +
                                      in_quotes(graph.switches[plug.at]) +
                                      ", expected one switch for each card (nics)");
        at = plug.at;
      }
    }
    for (std::size_t i = 0; i < plugged_.size(); ++i)
      if (plugged_[i] == kFar)
        throw InputError(name_, "switches: found no switch for network card " + std::to_string(i % nics_) +
                                    " of node " + in_quotes(graph.nodes[i / nics_]) +
                                    ", expected one for each of its " + std::to_string(nics_) + " (nics)");
  }

  /// Gives each switch that is left its number; `group`: switches that are one (empty: none are).
  void number_switches(const WrittenGraph& graph, const std::vector<std::uint32_t>& level,
                       const std::vector<std::uint32_t>& group) {
    number_.assign(graph.switches.size(), kFar);
    std::vector<std::uint32_t> of_each;
    for (std::uint32_t at = 0; at < number_.size(); ++at) {
      if (!group.empty() && group[at] != at) {
        number_[at] = number_[group[at]];  // which has the lowest place
        ++of_each[number_[at]];
        continue;
      }
      number_[at] = switches++;
      names_.push_back(graph.switches[at]);
      level_.push_back(level[at]);
      of_each.push_back(1);
    }
    for (std::uint32_t at = 0; at < switches; ++at)
      if (of_each[at] > 1) names_[at] += " and " + std::to_string(of_each[at] - 1) + " beside it";
  }

  void lay_cables(const FabricRequest& request, const WrittenGraph& graph) {
    const Time hop = request.spec.cable_latency + request.spec.switch_latency;
    const auto carries = [&](const WrittenGraph::Cables& pair) {
      return pair.bandwidth ? *pair.bandwidth * request.efficiency : request.port;
    };
    const auto lay = [&](std::uint32_t a, std::uint32_t b, Bandwidth bandwidth) {
      if (links.size() + 2 > kMostLinks) throw InputError(name_, "cables: found more than 500000, expected fewer");
      links.push_back({a, b, bandwidth, hop});
      links.push_back({b, a, bandwidth, hop});
    };
    struct Wide {
      Bandwidth bandwidth{};
      std::uint64_t cables = 0;
    };
    std::map<std::pair<std::uint32_t, std::uint32_t>, Wide> wide;
    for (const WrittenGraph::Cables& pair : graph.cables) {
      const std::uint32_t a = number_[pair.a], b = number_[pair.b];
      if (a == b) continue;  // inside one wide switch
      if (hash_) {
        for (std::uint32_t i = 0; i < pair.count; ++i) lay(a, b, carries(pair));
        continue;
      }
      Wide& all = wide[std::minmax(a, b)];
      all.bandwidth += carries(pair) * pair.count;
      all.cables += pair.count;
    }
    for (const auto& [ends, all] : wide) {
      const auto ways = static_cast<double>(all.cables);
      lay(ends.first, ends.second, all.bandwidth * (carried_by(request.spec, ways) / ways));
    }
  }

  void find_ways(const WrittenGraph& graph, const std::vector<std::uint32_t>& leaves) {
    if (std::size_t{switches} * leaves.size() > kMostDistances)
      throw InputError(name_, "switches: found " + std::to_string(graph.switches.size()) + ", of which " +
                                  std::to_string(leaves.size()) + " have nodes, expected fewer");
    leaving_.resize(switches);
    Neighbours near(switches);
    for (std::uint32_t link = 0; link < links.size(); ++link) {
      leaving_[links[link].from].push_back(link);
      near[links[link].from].push_back(links[link].to);
    }
    leaf_.assign(switches, kFar);
    for (const std::uint32_t leaf : leaves) {
      leaf_[number_[leaf]] = static_cast<std::uint32_t>(distance_.size());
      distance_.push_back(distances(near, {number_[leaf]}));
    }
  }

  /// Whether no two NICs of a node have a switch in common with other numbers: NIC i is on switches of rail i alone.
  bool on_rails() const {
    if (nics_ < 2) return false;
    std::vector<std::uint32_t> rail(switches, kFar);
    for (std::size_t i = 0; i < plugged_.size(); ++i) {
      std::uint32_t& of_switch = rail[plugged_[i]];
      if (of_switch == kFar) of_switch = static_cast<std::uint32_t>(i % nics_);
      if (of_switch != i % nics_) return false;
    }
    return true;
  }

  /// Whether some switch has less bandwidth upwards than comes to it from below, or a way that is neither.
  bool blocks() const {
    std::vector<double> up(switches), down(switches);
    for (const std::uint32_t at : plugged_) down[at] += port_.value;
    bool sideways = false;
    for (const FabricLink& link : links) {
      const std::uint32_t from = level_[link.from], to = level_[link.to];
      sideways = sideways || from == to;
      (from < to ? up[link.from] : down[link.from]) += link.bandwidth.value;
    }
    constexpr double kRounding = 1e-9;
    for (std::uint32_t at = 0; at < switches; ++at)
      if (up[at] > 0 && up[at] < down[at] * (1 - kRounding)) return true;
    return sideways;
  }

  std::string name_;
  std::uint32_t nics_;
  bool hash_;
  Bandwidth port_{};
  std::vector<std::uint32_t> number_;                 ///< [switch of the file]: the one that it is or is part of
  std::vector<std::string> names_;                    ///< [switch]
  std::vector<std::uint32_t> level_;                  ///< [switch]: cables to the nearest switch with nodes
  std::vector<std::uint32_t> plugged_;                ///< [node * nics_ + nic]: its switch
  std::vector<std::vector<std::uint32_t>> leaving_;   ///< [switch]: its links
  std::vector<std::uint32_t> leaf_;                   ///< [switch with nodes]: place in distance_
  std::vector<std::vector<std::uint32_t>> distance_;  ///< [leaf][switch]: links from there to the leaf
};

std::unique_ptr<const Fabric> build_graph_fabric(const FabricRequest& request) {
  try {
    return std::make_unique<GraphFabric>(request, read_written_graph(request.spec));
  } catch (const InputError& error) {
    const std::string what = error.what();
    if (what.starts_with(request.spec.name + ": ")) throw;
    throw InputError(request.spec.name, what);
  }
}

constexpr std::array<std::string_view, 5> kReadByGraph = {"switches", "cables", "routing", "seed", "spray_efficiency"};

void check_written_graph(const FabricSpec& spec, std::uint32_t) { read_written_graph(spec); }

}  // namespace

extern const FabricBuilder graph_fabric;
constinit const FabricBuilder graph_fabric{.name = "graph",
                                           .summary = "switches and cables as they are listed, with the nodes of each",
                                           .source = {},
                                           .reads = kReadByGraph,
                                           .check = check_written_graph,
                                           .build = build_graph_fabric};

}  // namespace stepcast::topology
