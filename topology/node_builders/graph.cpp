#include <array>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/input_error.h"
#include "topology/link_types.h"
#include "topology/node_builders.h"
#include "topology/unknown_name.h"

namespace stepcast::topology {

namespace {

constexpr std::array<std::pair<std::string_view, DeviceKind>, 5> kKinds = {{{"gpu", DeviceKind::gpu},
                                                                            {"cpu", DeviceKind::cpu},
                                                                            {"pcie-switch", DeviceKind::pcie_switch},
                                                                            {"nvswitch", DeviceKind::nvswitch},
                                                                            {"nic", DeviceKind::nic}}};

DeviceKind kind_of(const NodeSpec& node, const GraphDevice& device) {
  std::vector<std::string_view> names;
  for (const auto& [name, kind] : kKinds) {
    if (name == device.kind) return kind;
    names.push_back(name);
  }
  throw_unknown_name(node.name, "device '" + device.name + "': kind", device.kind, names);
}

/// Devices and links as the user named them.
Graph build_graph(const NodeSpec& node) {
  Graph graph;
  std::unordered_map<std::string, std::uint32_t> place;
  for (const GraphDevice& device : node.devices) {
    if (!place.emplace(device.name, graph.add(kind_of(node, device), device.name)).second) {
      throw InputError(node.name, "device '" + device.name + "' is listed twice");
    }
  }
  const std::size_t gpus = graph.all(DeviceKind::gpu).size();
  if (gpus != node.gpus) {
    throw InputError(node.name, "gpus: " + std::to_string(node.gpus) + ", but " + std::to_string(gpus) +
                                    " devices of kind 'gpu' are listed");
  }
  const auto find = [&](const std::string& name) {
    const auto found = place.find(name);
    if (found != place.end()) return found->second;
    std::vector<std::string_view> names;
    for (const GraphDevice& device : node.devices) names.push_back(device.name);
    throw_unknown_name(node.name, "link end", name, names);
  };
  for (const GraphLink& link : node.links) {
    check(node, link.type);
    if (link.count == 0)
      throw InputError(node.name, "link '" + link.from + "' to '" + link.to + "': count must be 1 or more");
    if (link.from == link.to) throw InputError(node.name, "link '" + link.from + "' to itself");
    graph.join(find(link.from), find(link.to), link.type, link.count);
  }
  return graph;
}

constexpr std::array<std::string_view, 3> kReads = {"gpus", "devices", "links"};

}  // namespace

extern const Builder graph_builder;
constinit const Builder graph_builder{
    .name = "graph", .summary = "devices and links as listed", .reads = kReads, .build = build_graph};

}  // namespace stepcast::topology
