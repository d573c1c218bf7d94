#include "language/sites/topograph.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "calibrate/logs/json_text.h"
#include "language/sites/site_tree.h"
#include "sim/in_quotes.h"
#include "sim/input_error.h"
#include "topology/hostlist.h"

namespace stepcast::language {
namespace {

using nlohmann::json;

constexpr std::size_t kMostTiers = 16;

/// A node and the switches above it, the nearest first.
struct LabelledNode {
  std::string name;
  std::vector<std::string> switches;
  std::string domain;  ///< of accelerators; empty: none
};

/// A member of an object; nothing where it is not there.
const json* member_of(const json* object, const char* key) {
  if (object == nullptr || !object->is_object()) return nullptr;
  const auto at = object->find(key);
  return at == object->end() ? nullptr : &*at;
}

std::string text_of(const json* value) {
  return value != nullptr && value->is_string() ? value->get<std::string>() : std::string();
}

/// What a list of names can hold: switches' ids have slashes and more.
std::string plain_name(const std::string& id) {
  std::string name = id;
  for (char& c : name) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
                       c == '_' || c == '.' || c == ':';
    if (!plain) c = '-';
  }
  return name;
}

/// The keys of a node's labels that name its switches, the nearest first.
std::vector<std::string> switches_by_labels(const json* labels, std::span<const std::string> chosen) {
  std::vector<std::string> keys(chosen.begin(), chosen.end());
  if (keys.empty()) {
    for (std::size_t tier = 0; tier < kMostTiers; ++tier)
      keys.push_back("fabric.topograph.run/tier-" + std::to_string(tier));
    if (text_of(member_of(labels, keys.front().c_str())).empty())
      keys = {"network.topology.nvidia.com/leaf", "network.topology.nvidia.com/spine",
              "network.topology.nvidia.com/core"};
  }
  std::vector<std::string> switches;
  for (const std::string& key : keys) {
    const std::string id = text_of(member_of(labels, key.c_str()));
    if (id.empty()) break;
    switches.push_back(plain_name(id));
  }
  return switches;
}

std::string domain_by_labels(const json* labels) {
  for (const char* key : {"accelerator.topograph.run/domain", "network.topology.nvidia.com/accelerator"})
    if (const std::string domain = text_of(member_of(labels, key)); !domain.empty()) return plain_name(domain);
  return {};
}

/// Whether a node takes jobs.
bool takes_jobs(const json& node) {
  const json* const away = member_of(member_of(&node, "spec"), "unschedulable");
  if (away != nullptr && away->is_boolean() && away->get<bool>()) return false;
  const json* const conditions = member_of(member_of(&node, "status"), "conditions");
  if (conditions == nullptr || !conditions->is_array()) return true;
  return std::ranges::none_of(*conditions, [](const json& condition) {
    return text_of(member_of(&condition, "type")) == "Ready" && text_of(member_of(&condition, "status")) != "True";
  });
}

/// GPUs of a node's capacity, "8"; nothing where it says nothing of them.
std::optional<std::uint32_t> gpus_of(const json& node, const std::string& place) {
  const json* const capacity = member_of(member_of(&node, "status"), "capacity");
  for (const char* key : {"nvidia.com/gpu", "amd.com/gpu"}) {
    const std::string count = text_of(member_of(capacity, key));
    if (count.empty()) continue;
    std::uint32_t gpus = 0;
    const auto [rest, error] = std::from_chars(count.data(), count.data() + count.size(), gpus);
    if (error != std::errc{} || rest != count.data() + count.size() || gpus > 1024)
      throw InputError(place, "status.capacity: found " + in_quotes(count) + " GPUs, expected a number of them");
    return gpus;
  }
  return std::nullopt;
}

void check_name(const std::string& name, const std::string& place, std::set<std::string>& seen) {
  try {
    if (topology::expand_hostlist(name) != std::vector{name}) throw InputError("", "found several names");
  } catch (const InputError&) {
    throw InputError(place, "found the node name " + in_quotes(name) + ", expected letters, digits, '-', '_' and '.'");
  }
  if (!seen.insert(name).second)
    throw InputError(place, "found the node " + in_quotes(name) + " a second time, expected it once");
}

/// What the labels and layers of all nodes say, as a tree.
Site site_of(const std::vector<LabelledNode>& nodes, const Place& place) {
  const bool by_switches = std::ranges::any_of(nodes, [](const LabelledNode& node) { return !node.switches.empty(); });
  std::map<std::string, std::vector<std::string>> leaves;
  std::map<std::string, std::size_t> tier_of;
  std::map<std::string, std::set<std::string>> below;
  std::vector<std::string> nowhere, order;
  bool domains = false;
  for (const LabelledNode& node : nodes) {
    domains = domains || !node.domain.empty();
    const std::vector<std::string> path = by_switches            ? node.switches
                                          : !node.domain.empty() ? std::vector{node.domain}
                                                                 : std::vector<std::string>();
    if (path.empty()) {
      nowhere.push_back(node.name);
      continue;
    }
    for (std::size_t tier = 0; tier < path.size(); ++tier) {
      const auto [known, fresh] = tier_of.emplace(path[tier], tier);
      if (fresh) order.push_back(path[tier]);
      if (known->second != tier)
        throw InputError(place.file, "found " + in_quotes(path[tier]) + " " + std::to_string(known->second) + " and " +
                                         std::to_string(tier) +
                                         " switches above a node, expected a switch to be of one tier");
      if (tier > 0) below[path[tier]].insert(path[tier - 1]);
    }
    leaves[path.front()].push_back(node.name);
  }
  SiteTree tree;
  for (const std::string& name : order) tree.add_switch(name, "", place, place, leaves[name]);
  for (const std::string& name : order)
    if (const auto children = below.find(name); children != below.end())
      tree.put_below(name, {children->second.begin(), children->second.end()}, "", place);
  if (!by_switches && order.size() > 1) tree.join_all("Accelerator domains");
  if (by_switches && domains)
    tree.remark("Accelerator domains are not used: which GPUs NVLink joins, the machine (--node) says.");
  if (!nowhere.empty())
    tree.remark("Left out, as nothing says which switch they are on: " + topology::fold_hostlist(nowhere) + ".");
  return tree.finish();
}

/// `kubectl get nodes -o json`, or of one node.
SiteOfLabels of_kubernetes(const json& document, const std::string& file, std::span<const std::string> labels) {
  const json* list = member_of(&document, "items");
  const json alone = list == nullptr ? json::array({document}) : json();
  if (list == nullptr) list = &alone;
  SiteOfLabels out;
  std::vector<LabelledNode> nodes;
  std::set<std::string> seen;
  bool counted = false;
  for (std::size_t i = 0; i < list->size(); ++i) {
    const json& node = (*list)[i];
    const std::string place = file + ": items[" + std::to_string(i) + "]";
    const json* const metadata = member_of(&node, "metadata");
    const std::string name = text_of(member_of(metadata, "name"));
    if (name.empty()) throw InputError(place, "found no metadata.name, expected a node of Kubernetes");
    check_name(name, place, seen);
    const json* const own = member_of(metadata, "labels");
    nodes.push_back({name, switches_by_labels(own, labels), domain_by_labels(own)});
    const std::optional<std::uint32_t> gpus = gpus_of(node, place);
    counted = counted || gpus;
    out.nodes.push_back(
        {name, text_of(member_of(own, "nvidia.com/gpu.product")), gpus.value_or(0), takes_jobs(node), {file, 0, 0}});
  }
  if (!counted) out.nodes.clear();
  out.site = site_of(nodes, {file, 0, 0});
  return out;
}

/// {"instances": [{"id": "I21", "network_layers": ["leaf-a", "spine-a"], "attributes": {"nvlink": "nvl-1"}}]}
SiteOfLabels of_instances(const json& instances, const std::string& file) {
  std::vector<LabelledNode> nodes;
  std::set<std::string> seen;
  for (std::size_t i = 0; i < instances.size(); ++i) {
    const json& one = instances[i];
    const std::string place = file + ": instances[" + std::to_string(i) + "]";
    LabelledNode node{
        text_of(member_of(&one, "id")), {}, plain_name(text_of(member_of(member_of(&one, "attributes"), "nvlink")))};
    if (node.name.empty()) throw InputError(place, "found no id, expected an instance of topograph's engine graph");
    check_name(node.name, place, seen);
    if (const json* const layers = member_of(&one, "network_layers"); layers != nullptr && layers->is_array()) {
      if (layers->size() > kMostTiers) throw InputError(place, "network_layers: found more than 16, expected fewer");
      for (const json& layer : *layers) {
        if (!layer.is_string() || layer.get_ref<const std::string&>().empty())
          throw InputError(place, "network_layers: expected names of switches");
        node.switches.push_back(plain_name(layer.get<std::string>()));
      }
    }
    nodes.push_back(std::move(node));
  }
  return {site_of(nodes, {file, 0, 0})};
}

}  // namespace

SiteOfLabels read_topograph(std::string_view text, const std::string& file, std::span<const std::string> labels) {
  calibrate::check_json_text(file, text);
  const json document = json::parse(text);
  const json* const instances = member_of(&document, "instances");
  const json* const items = member_of(&document, "items");
  const bool one_node = text_of(member_of(&document, "kind")) == "Node";
  SiteOfLabels out;
  if (instances != nullptr && instances->is_array())
    out = of_instances(*instances, file);
  else if (one_node || (items != nullptr && items->is_array()))
    out = of_kubernetes(document, file, labels);
  else
    throw InputError(file,
                     "found neither items nor instances, expected what 'kubectl get nodes -o json' prints, or JSON of "
                     "topograph's engine graph");
  if (out.site.switches.empty())
    throw InputError(file,
                     "found no node with a label that names its switch, expected fabric.topograph.run/tier-0, "
                     "network.topology.nvidia.com/leaf, or the keys of --labels");
  return out;
}

}  // namespace stepcast::language
