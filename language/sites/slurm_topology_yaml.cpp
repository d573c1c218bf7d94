#include "language/sites/slurm_topology_yaml.h"

#include <algorithm>
#include <vector>

#include "language/core/nearest.h"
#include "language/core/type.h"
#include "language/core/yaml.h"
#include "language/sites/site_tree.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"
#include "topology/hostlist.h"

namespace stepcast::language {
namespace {

void check_keys(const Node& mapping, const Names& known, const char* what) {
  if (mapping.kind != Node::Kind::mapping)
    fail(mapping.place, "", "found " + found(mapping) + ", expected a mapping with the keys of " + what);
  for (const Entry& entry : mapping.entries)
    if (std::ranges::find(known, entry.key) == known.end())
      fail(entry.place, "",
           "found the unknown key " + in_quotes(entry.key) + " of " + what + ", expected " + one_of(entry.key, known));
}

const Node& required(const Node& mapping, const char* key, const char* what) {
  if (const Node* const value = mapping.find(key)) return *value;
  fail(mapping.place, "", std::string("found ") + what + " without the key '" + key + "', expected it");
}

std::string word_at(const Node& mapping, const char* key, const char* what) {
  const Node& value = required(mapping, key, what);
  if (value.kind != Node::Kind::scalar) fail(value.place, key, "found " + found(value) + ", expected a name");
  return value.scalar;
}

/// A list of names in Slurm's notation; none where the key is not there.
std::vector<std::string> names_at(const Node& mapping, const char* key) {
  const Node* const value = mapping.find(key);
  if (value == nullptr) return {};
  if (value->kind != Node::Kind::scalar)
    fail(value->place, key, "found " + found(*value) + ", expected a list as Slurm writes it, such as n[1-16]");
  try {
    return topology::expand_hostlist(value->scalar);
  } catch (const InputError& error) {
    fail(value->place, key, error.what());
  }
}

bool flag_at(const Node& mapping, const char* key) {
  const Node* const value = mapping.find(key);
  if (value == nullptr) return false;
  std::string word = value->scalar;
  std::ranges::transform(word, word.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  if (value->kind != Node::Kind::scalar || (word != "true" && word != "false"))
    fail(value->place, key, "found " + found(*value) + ", expected true or false");
  return word == "true";
}

const std::vector<Node>& list_at(const Node& mapping, const char* key, const char* what) {
  const Node& list = required(mapping, key, what);
  if (list.kind != Node::Kind::list) fail(list.place, key, "found " + found(list) + ", expected a list");
  return list.items;
}

Site tree_of(const Node& tree) {
  check_keys(tree, {"switches"}, "a tree");
  SiteTree site;
  for (const Node& one : list_at(tree, "switches", "a tree")) {
    check_keys(one, {"switch", "children", "nodes"}, "a switch");
    const std::string name = word_at(one, "switch", "a switch");
    const Node* const children = one.find("children");
    if ((children == nullptr) == (one.find("nodes") == nullptr))
      fail(one.place, "",
           "found a switch with " + std::string(children == nullptr ? "neither" : "both") +
               " of nodes and children, expected one of them");
    site.add_switch(name, "switch", one.find("switch")->place, one.place, names_at(one, "nodes"));
    if (children != nullptr) site.put_below(name, names_at(one, "children"), "children", children->place);
  }
  return site.finish();
}

Site blocks_of(const Node& block) {
  check_keys(block, {"block_sizes", "blocks"}, "blocks");
  SiteTree site;
  for (const Node& one : list_at(block, "blocks", "blocks")) {
    check_keys(one, {"block", "nodes"}, "a block");
    const std::string name = word_at(one, "block", "a block");
    if (one.find("nodes") != nullptr)  // else it holds a place, so that blocks above it have their size
      site.add_switch(name, "block", one.find("block")->place, one.place, names_at(one, "nodes"));
  }
  if (site.size() > 1) site.join_all("Blocks");
  return site.finish();
}

/// What a topology is made of, by the plugin that it is for (topology.yaml(5), Slurm 25.11); "": not exactly one.
std::string_view kind_of(const Node& topology) {
  std::string_view kind;
  for (const char* const each : {"tree", "block", "flat", "ring", "torus3d"}) {
    if (topology.find(each) == nullptr) continue;
    if (!kind.empty()) return "";
    kind = each;
  }
  return kind;
}

/// The topology that is meant.
const Node& topology_chosen(const std::vector<Node>& all, const std::string& file, const std::string& chosen) {
  std::vector<std::string_view> names;
  std::vector<const Node*> shaped;
  for (const Node& one : all) {
    names.push_back(one.find("topology")->scalar);
    if (const std::string_view kind = kind_of(one); kind == "tree" || kind == "block") shaped.push_back(&one);
  }
  if (!chosen.empty()) {
    const auto at = std::ranges::find(names, chosen);
    if (at == names.end())
      throw InputError("--topology", "found " + in_quotes(chosen) + ", expected " + one_of(chosen, names));
    return all[static_cast<std::size_t>(at - names.begin())];
  }
  for (const Node& one : all)
    if (flag_at(one, "cluster_default") && kind_of(one) != "flat") return one;
  if (shaped.size() == 1) return *shaped.front();
  throw InputError(file, shaped.empty() ? "found no topology with switches or blocks, expected one"
                                        : "found several topologies, none of them cluster_default; expected "
                                          "--topology to name one of " +
                                              one_of("", names));
}

}  // namespace

Site read_slurm_topology_yaml(std::string_view text, const std::string& file, const std::string& chosen) {
  const Node document = parse_yaml_document(text, file);
  if (document.kind != Node::Kind::list)
    fail(document.place, "", "found " + found(document) + ", expected a list of topologies: '- topology: NAME'");
  for (const Node& one : document.items) {
    check_keys(one, {"topology", "cluster_default", "tree", "block", "flat", "ring", "torus3d"}, "a topology");
    word_at(one, "topology", "a topology");
    if (kind_of(one).empty())
      fail(one.place, "",
           "found a topology that is not exactly one of tree, block, flat, ring and torus3d, expected one of them");
  }
  const Node& topology = topology_chosen(document.items, file, chosen);
  const std::string_view kind = kind_of(topology);
  if (kind == "flat")
    fail(topology.place, "", "found a flat topology, which says nothing of switches; expected a tree or blocks");
  if (kind == "ring" || kind == "torus3d")
    fail(topology.place, "",
         "found a topology of kind " + std::string(kind) +
             ", which has no switches; expected a tree or blocks (--topology names another of the file)");
  const Node& shape = *topology.find(kind);
  Site site = kind == "tree" ? tree_of(shape) : blocks_of(shape);
  if (site.switches.empty()) fail(topology.place, "", "found no switch and no block, expected some with nodes");
  return site;
}

}  // namespace stepcast::language
