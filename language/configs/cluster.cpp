#include "language/configs/cluster.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "language/configs/usual_stack.h"
#include "language/core/library.h"
#include "language/core/nearest.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"
#include "topology/allocation.h"
#include "topology/fabrics.h"
#include "topology/fabrics/written_graph.h"
#include "topology/hostlist.h"
#include "topology/unfit_radix.h"

namespace stepcast::language {
namespace {

using C = ClusterDraft;

constexpr std::int64_t kMostGpus = 10'000'000;
constexpr std::int64_t kMostNics = 1024;

/// What makes a job of so many GPUs one of whole nodes, of which each gives fewer; "" where one GPU of each is all.
std::string with_fewer_a_node(std::int64_t gpus, std::int64_t per_node) {
  std::int64_t each = per_node;
  while (gpus % each != 0) --each;
  if (each == 1) return "";
  return ", or " + std::to_string(gpus / each) + " nodes that give " + std::to_string(each) +
         " each (cluster.node.gpus=" + std::to_string(each) + ")";
}

/// How so many GPUs are spread over so many nodes, where they give as many each: an allocation, written out for few.
std::string with_an_allocation(std::int64_t gpus, std::int64_t nodes, std::int64_t per_node) {
  constexpr std::int64_t kFew = 4;
  if (nodes == 0 || gpus % nodes != 0 || gpus / nodes > per_node || gpus < nodes) return "";
  const std::int64_t each = gpus / nodes;
  std::string list;
  for (std::int64_t n = 0; n < std::min(nodes, kFew); ++n)
    list += (n == 0 ? "node" : ",node") + std::to_string(n) + (each == 1 ? ":0" : ":0-" + std::to_string(each - 1));
  return ", or for " + std::to_string(each) + (each == 1 ? " GPU" : " GPUs") + " of each node allocation '" + list +
         (nodes > kFew ? ",...'" : "'");
}

/// How many nodes a fabric joins, by how many network cards each.
struct JoinedNodes {
  std::uint32_t nodes, nics;
};

/// Leaf switches that have no port left to go up with cannot be joined.
void check_up_links(const topology::FabricSpec& fabric, JoinedNodes joined, const Value& v) {
  if (joined.nodes < 2 || joined.nics == 0 || fabric.radix >= 1 + fabric.oversubscription) return;
  try {
    topology::build_fabric({fabric, joined.nodes, joined.nics, Bandwidth{1e9}});
  } catch (const InputError&) {
    const Node* const said = v.node->find("oversubscription");
    const std::string key = join(v.path, said != nullptr ? "oversubscription" : "radix");
    fail(locate(*v.node, said != nullptr ? "oversubscription" : "radix"), key,
         "found " + (said != nullptr ? found(*said) : "'" + std::to_string(fabric.radix) + "'") +
             ", which leaves a switch of radix " + std::to_string(fabric.radix) +
             " no port to go up with; expected an oversubscription of at most radix - 1");
  }
}

/// Where "switches[2].nodes" was written.
Place place_in(const Node& fabric, const std::string& key) {
  const std::size_t bracket = key.find('['), end = key.find("].");
  const Node* const list = fabric.find(key.substr(0, bracket));
  if (list == nullptr || end == std::string::npos) return locate(fabric, key.substr(0, bracket));
  std::size_t item = 0;
  std::from_chars(key.data() + bracket + 1, key.data() + end, item);
  return item < list->items.size() ? locate(list->items[item], key.substr(end + 2)) : list->place;
}

/// What the keys of one kind of fabric say wrongly, where they say it.
void check_kind(const topology::FabricSpec& fabric, JoinedNodes joined, const Value& v) {
  const topology::FabricBuilder* const builder = topology::find_fabric(fabric.kind);
  if (builder == nullptr || builder->check == nullptr) return;
  try {
    builder->check(fabric, joined.nodes);
  } catch (const InputError& error) {
    const std::string what = error.what();
    const std::size_t colon = what.find(": ");
    const std::string key = what.substr(0, colon);
    fail(place_in(*v.node, key), join(v.path, key), what.substr(colon + 2));
  }
}

/// What belongs to one routing is read with that one alone.
void check_routing(const topology::FabricSpec& fabric, const Value& v) {
  const auto blame = [&](std::string_view key, const std::string& what) {
    fail(locate(*v.node, key), join(v.path, key), what);
  };
  const auto unread = [&](std::string_view key, std::string_view routing, const std::string& why) {
    const Node* const said = v.node->find(key);
    if (said != nullptr && fabric.routing != routing)
      blame(key, "found " + found(*said) + " with routing " + fabric.routing + ", " + why + "; expected routing " +
                     std::string(routing) + " or the key left out");
  };
  unread("seed", "hash", "which hashes nothing");
  unread("spray_efficiency", "spray", "which sprays nothing");
  if (fabric.routing != "spray") return;
  const topology::FabricBuilder* const builder = topology::find_fabric(fabric.kind);
  if (builder != nullptr && !builder->sprays_nothing.empty())
    blame("routing", "found 'spray' with kind " + fabric.kind + ", " + std::string(builder->sprays_nothing) +
                         "; expected adaptive or hash");
  if (!fabric.spray_efficiency)
    blame("routing",
          "found 'spray' without spray_efficiency, expected what sprayed paths carry of what their links could beside "
          "it, as the fabric fat-tree-eqds states it");
}

topology::FabricSpec read_fabric(const Value& v, JoinedNodes joined) {
  topology::FabricSpec fabric = read_block(fabric_table(), v);
  if (fabric.name.empty()) fabric.name = v.text;
  check_kind(fabric, joined, v);
  check_routing(fabric, v);
  check_up_links(fabric, joined, v);
  return fabric;
}

/// The first two neighbours among the job's nodes that no cables of a listed fabric join, by their places in it.
std::optional<std::pair<std::uint32_t, std::uint32_t>> apart(const topology::WrittenGraph& graph,
                                                             const schedules::ClusterSpec& cluster) {
  const std::vector<std::uint32_t> parts = topology::connected_parts(graph);
  std::vector<std::set<std::uint32_t>> reached(graph.nodes.size());  // parts that each node has a network card on
  for (const topology::WrittenGraph::Plug& plug : graph.plugs) reached[plug.node].insert(parts[plug.at]);
  const std::uint32_t nodes = schedules::nodes_in_use(cluster);
  const auto node = [&](std::uint32_t i) { return cluster.allocation ? cluster.allocation->nodes[i].node : i; };
  for (std::uint32_t i = 1; i < nodes; ++i) {
    const std::uint32_t a = node(i - 1), b = node(i);
    if (a >= reached.size() || b >= reached.size()) continue;  // the fabric says so itself
    if (std::ranges::none_of(reached[a], [&](std::uint32_t each) { return reached[b].contains(each); }))
      return std::pair(a, b);
  }
  return std::nullopt;
}

/// Nodes that the network cards, or the cables of a listed fabric, leave apart.
void check_joined(const ClusterDraft& draft, const Value& value, const schedules::ClusterSpec& cluster) {
  const std::uint32_t nodes = schedules::nodes_in_use(cluster);
  if (nodes < 2) return;
  const auto blame = [&](const std::string& key, const Place& place, const std::string& what) {
    fail(place, join(value.path, key), what);
  };
  if (cluster.node.builder != "graph" && cluster.node.nics == 0) {
    if (draft.nics_per_node)
      blame("nics_per_node", locate(*value.node, "nics_per_node"),
            "found '0' with " + std::to_string(nodes) + " nodes, expected at least one network card to join them");
    const std::string key = draft.nodelist     ? "nodelist"
                            : draft.allocation ? "allocation"
                            : draft.gpus       ? "gpus"
                                               : "nodes";
    blame(key, locate(*value.node, key),
          "found " + std::to_string(nodes) + " nodes " + in_quotes(cluster.node.name) +
              ", which have no network cards; expected one node");
  }
  if (!topology::lists_nodes(cluster.fabric)) return;
  const topology::WrittenGraph graph = topology::read_written_graph(cluster.fabric);
  if (const auto found = apart(graph, cluster)) {
    const Node* const fabric = value.node->find("fabric");
    const bool own = fabric != nullptr && fabric->kind == Node::Kind::mapping;
    const std::string_view where = own && fabric->find("cables") != nullptr ? "cables" : "switches";
    blame("fabric." + std::string(where), own ? locate(*fabric, where) : locate(*value.node, "fabric"),
          "found no way from the node " + in_quotes(graph.nodes[found->first]) + " to the node " +
              in_quotes(graph.nodes[found->second]) + ", expected cables that join their switches");
  }
}

/// A radix that the cluster says itself, too small for its nodes. Of a fabric with a name whoever builds it says so.
void check_radix(const Value& value, const topology::FabricSpec& fabric, JoinedNodes joined) {
  const Node* said = value.node->find("fabric");
  if (said == nullptr || said->kind != Node::Kind::mapping || said->find("radix") == nullptr) return;
  if (joined.nodes < 2 || joined.nics == 0) return;
  try {
    topology::build_fabric({fabric, joined.nodes, joined.nics, Bandwidth{1e9}});
  } catch (const topology::UnfitRadix& radix) {
    fail(locate(*said, "radix"), join(value.path, "fabric.radix"),
         "found " + found(*said->find("radix")) + ", which " + radix.why());
  }
}

/// What joins nodes that usually have the fabric `usual`: that one with what the cluster says over it. A mapping with a
/// kind (or a base) is a fabric of its own.
topology::FabricSpec fabric_over(const std::string& usual, const Value& cluster, JoinedNodes joined) {
  Node over = make_scalar(usual, cluster.node->place);
  if (const Node* said = cluster.node->find("fabric")) {
    over = *said;
    over.entries.push_back({"base", said->place, make_scalar(usual, said->place)});
  }
  Value value;
  value.path = join(cluster.path, "fabric");
  value.library = cluster.library;
  value.text = usual;
  const Node whole = cluster.library->expand_block(over, fabric_schema(), value.path);
  value.node = &whole;
  return read_fabric(value, joined);
}

/// The nodes of a list, by the numbers that the fabric gives them. Throws InputError with what is wrong with the list.
topology::Allocation listed_nodes(const std::string& list, const topology::FabricSpec& fabric,
                                  std::uint32_t gpus_per_node) {
  if (!topology::lists_nodes(fabric))
    throw InputError("", "found " + in_quotes(list) + " with a fabric of kind " + fabric.kind +
                             ", whose nodes have no names; expected kind graph, or cluster.allocation");
  const topology::WrittenGraph graph = topology::read_written_graph(fabric);
  std::unordered_map<std::string_view, std::uint32_t> numbers;
  for (const std::string& name : graph.nodes) numbers.emplace(name, static_cast<std::uint32_t>(numbers.size()));
  std::vector<bool> seen(graph.nodes.size());
  topology::Allocation allocation;
  for (const std::string& name : topology::expand_hostlist(list)) {
    const auto known = numbers.find(name);
    if (known == numbers.end()) {
      const std::vector<std::string_view> names(graph.nodes.begin(), graph.nodes.end());
      throw InputError("", "found the node " + in_quotes(name) + ", which no switch of cluster.fabric lists" +
                               did_you_mean(name, names));
    }
    if (seen[known->second]) throw InputError("", "found the node " + in_quotes(name) + " twice, expected it once");
    seen[known->second] = true;
    allocation.nodes.push_back({known->second, {}});
  }
  allocation.of_nodes = static_cast<std::uint32_t>(graph.nodes.size());
  return topology::resolve(std::move(allocation), gpus_per_node, "");
}

/// Which nodes of a listed fabric the job has. `nodes`: where no list says it.
void use_listed_nodes(const ClusterDraft& draft, const Value& value, std::uint32_t nodes,
                      schedules::ClusterSpec& cluster) {
  const auto blame = [&](std::string_view key, const std::string& what) {
    fail(locate(*value.node, key), join(value.path, key), what);
  };
  if (draft.nodelist) {
    try {
      cluster.allocation = listed_nodes(*draft.nodelist, cluster.fabric, cluster.node.gpus);
    } catch (const InputError& error) {
      blame("nodelist", error.what());
    }
    cluster.gpus = topology::count(*cluster.allocation);
  } else if (topology::lists_nodes(cluster.fabric) && nodes > 1) {
    const std::size_t listed = topology::read_written_graph(cluster.fabric).nodes.size();
    if (nodes > listed)
      blame("nodes", "found " + std::to_string(nodes) + " nodes, of which the switches of cluster.fabric list " +
                         std::to_string(listed));
  }
}

/// The node's network cards as the cluster has them.
void use_network_cards(const ClusterDraft& draft, const Value& value, topology::NodeSpec& node) {
  const auto blame = [&](std::string_view key, const std::string& what) {
    fail(locate(*value.node, key), join(value.path, key), what);
  };
  if (draft.nics_per_node) {
    if (node.builder == "graph")
      blame("nics_per_node",
            "the node '" + node.name + "' lists its network cards one by one (devices), expected the key left out");
    const std::uint32_t has = node.nics;
    if (*draft.nics_per_node > has)
      blame("nics_per_node", "found '" + std::to_string(*draft.nics_per_node) + "' with the node " +
                                 in_quotes(node.name) + ", which has " +
                                 (has == 0 ? std::string("no network cards") : std::to_string(has)) +
                                 "; expected at most " + std::to_string(has) + ", or more in node.nics");
    node.nics = static_cast<std::uint32_t>(*draft.nics_per_node);
  }
  if (draft.nic_bandwidth) {
    if (!node.nic) {
      blame("nic_bandwidth", "the node has no network cards, expected the key left out");
    }
    node.nic->bandwidth = *draft.nic_bandwidth;
  }
}

}  // namespace

const Table<ClusterDraft>& cluster_table() {
  static const Table<ClusterDraft> table(
      "Cluster", "clusters",
      {
          {{"name", text_type(), "", "what people call it"}, [](C&, const Value&) {}},
          {{"node", block(node_schema), kRequired, "the machine; also a topology of NCCL (FILE.xml)"},
           [](C& c, const Value& v) { c.node = read_node(v); }},
          {{"nodes", whole(1, kMostGpus), "1", "whole nodes; or give gpus"},
           [](C& c, const Value& v) { c.nodes = v.whole; }},
          {{"gpus", whole(1, kMostGpus), "those of the nodes", "GPUs in all; below a node's count: part of one node"},
           [](C& c, const Value& v) { c.gpus = v.whole; }},
          {{"nics_per_node", whole(0, kMostNics), "the node's", "network cards in use"},
           [](C& c, const Value& v) { c.nics_per_node = v.whole; }},
          {{"nic_bandwidth", bandwidth_type(), "the node's", "of one network card"},
           [](C& c, const Value& v) { c.nic_bandwidth = v.bandwidth; }},
          {{"fabric", block(fabric_schema), "what the node usually has",
            "what joins the nodes; without kind or base: changes of the usual one"},
           [](C& c, const Value& v) {
             c.fabric = *v.node;
             c.fabric_file = v.text;
           }},
          {{"allocation", text_type(), "the first ones", "GPUs in use: '0-2,5', or 'node0:0-3,node2:4-7'"},
           [](C& c, const Value& v) { c.allocation = v.text; }},
          {{"nodelist", text_type(), "the first ones",
            "nodes in use, by the names that a fabric of kind graph lists, as Slurm writes them: 'gpu[001-064]'; ranks "
            "follow its order"},
           [](C& c, const Value& v) { c.nodelist = v.text; }},
          {{"other.gpu", block(gpu_schema), "none", "GPUs of a second kind"},
           [](C& c, const Value& v) { c.other_gpu = read_block(gpu_table(), v); }},
          {{"other.first", whole(1, kMostGpus), "required of other.gpu", "from this GPU on, counted from 0"},
           [](C& c, const Value& v) { c.other_first = v.whole; }},
          {{"source", text_type(), "", "where the numbers are from"}, [](C&, const Value&) {}},
      },
      {{"nodes", "gpus"},
       {"gpus", "allocation"},
       {"nodes", "nodelist"},
       {"gpus", "nodelist"},
       {"allocation", "nodelist"}});
  return table;
}

const Schema& cluster_schema() { return cluster_table().schema; }

bool lies_over_the_usual(const Node* fabric) {
  return fabric == nullptr || (fabric->kind == Node::Kind::mapping && fabric->find("kind") == nullptr &&
                               fabric->find("base") == nullptr && fabric->find("include") == nullptr);
}

schedules::ClusterSpec finish(const ClusterDraft& draft, const Value& value) {
  schedules::ClusterSpec cluster;
  cluster.node = draft.node.spec;
  cluster.gpu = draft.node.gpu;
  cluster.nccl = draft.node.nccl;
  if (cluster.nccl.empty()) {
    UsualStack usual = usual_stack(cluster.node, cluster.gpu.compute_capability);
    cluster.nccl = std::move(usual.name);
    cluster.nccl_assumed = std::move(usual.why);
  }
  const auto blame = [&](std::string_view key, const std::string& what) {
    fail(locate(*value.node, key), join(value.path, key), what);
  };
  const std::int64_t per_node = cluster.node.gpus;
  const std::int64_t gpus = draft.gpus.value_or(draft.nodes.value_or(1) * per_node);
  if (draft.gpus && draft.nodes && gpus != *draft.nodes * per_node) {
    blame("gpus", "found '" + std::to_string(gpus) + "' beside nodes '" + std::to_string(*draft.nodes) + "' of " +
                      std::to_string(per_node) + " GPUs, expected one of the two keys" +
                      with_an_allocation(gpus, *draft.nodes, per_node));
  }
  if (gpus > kMostGpus) blame("nodes", "found " + std::to_string(gpus) + " GPUs, expected at most 10000000");
  if (gpus > per_node && gpus % per_node != 0) {
    blame("gpus", "found '" + std::to_string(gpus) + "' on nodes of " + std::to_string(per_node) +
                      " GPUs, expected whole nodes (" + std::to_string(gpus / per_node * per_node) + " or " +
                      std::to_string((gpus / per_node + 1) * per_node) + " GPUs) or a part of one (1 to " +
                      std::to_string(per_node - 1) + ")" + with_fewer_a_node(gpus, per_node));
  }
  cluster.gpus = static_cast<std::uint32_t>(gpus);
  if (draft.allocation) {
    if (draft.gpus)
      blame("gpus", "found '" + std::to_string(gpus) + "' beside an allocation, expected one of the two keys");
    try {
      cluster.allocation = topology::parse_allocation(*draft.allocation);
      cluster.allocation->of_nodes = static_cast<std::uint32_t>(draft.nodes.value_or(0));
      cluster.allocation = topology::resolve(*std::move(cluster.allocation), static_cast<std::uint32_t>(per_node), "");
    } catch (const InputError& error) {
      const std::string what = error.what();
      const std::string unread = "allocation " + in_quotes(*draft.allocation) + ": ", unfit = "allocation: ";
      blame("allocation", what.starts_with(unread) ? what.substr(unread.size())
                                                   : "found " + in_quotes(*draft.allocation) + "; " +
                                                         what.substr(what.starts_with(unfit) ? unfit.size() : 0));
    }
    cluster.gpus = topology::count(*cluster.allocation);
  }
  use_network_cards(draft, value, cluster.node);
  if (draft.other_gpu.has_value() != draft.other_first.has_value())
    blame("other", "found one of gpu and first, expected both");
  if (draft.other_gpu) cluster.other = {*draft.other_gpu, static_cast<std::uint32_t>(*draft.other_first)};
  const JoinedNodes joined{nodes_in_use(cluster), cluster.node.nics};
  const std::string& usual = cluster.node.fabric;
  if (!usual.empty() && lies_over_the_usual(value.node->find("fabric"))) {
    cluster.fabric = fabric_over(usual, value, joined);
  } else if (draft.fabric) {
    Value fabric;
    fabric.node = &*draft.fabric;
    fabric.path = join(value.path, "fabric");
    fabric.library = value.library;
    fabric.text = draft.fabric_file;
    cluster.fabric = read_fabric(fabric, joined);
  }
  check_radix(value, cluster.fabric, joined);
  use_listed_nodes(draft, value, joined.nodes, cluster);
  check_joined(draft, value, cluster);
  return cluster;
}

}  // namespace stepcast::language
