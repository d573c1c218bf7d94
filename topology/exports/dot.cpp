#include "topology/exports/dot.h"

#include <fmt/format.h>

#include <set>
#include <string_view>
#include <tuple>

#include "sim/units_text.h"
#include "topology/expand.h"
#include "topology/exports.h"

namespace stepcast::topology {

namespace {

std::string_view style(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::gpu:
      return "shape=box, style=filled, fillcolor=palegreen";
    case DeviceKind::cpu:
      return "shape=box, style=filled, fillcolor=lightblue";
    case DeviceKind::nic:
      return "shape=box, style=filled, fillcolor=wheat";
    case DeviceKind::nvswitch:
      return "shape=ellipse, style=filled, fillcolor=palegreen";
    case DeviceKind::pcie_switch:
      return "shape=ellipse";
    case DeviceKind::leaf:
    case DeviceKind::spine:
    case DeviceKind::core:
      return "shape=ellipse, style=filled, fillcolor=wheat";
  }
  return {};
}

std::string_view color(LinkKind kind) {
  switch (kind) {
    case LinkKind::nvlink:
      return "forestgreen";
    case LinkKind::pcie:
      return "gray40";
    case LinkKind::c2c:
      return "mediumpurple";
    case LinkKind::socket:
      return "steelblue";
    case LinkKind::network:
      return "darkorange";
  }
  return {};
}

/// In quotes; names are the user's in hand-written graphs.
std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out += '"';
}

}  // namespace

std::string to_dot(const Cluster& cluster) {
  const Expanded all = expand(cluster);
  const std::uint32_t per_node = all.devices_per_node, nodes = all.nodes;
  std::string out = "graph topology {\n  graph [overlap=false];\n";
  for (std::uint32_t d = 0; d < all.devices.size(); ++d) {
    const bool in_node = d < nodes * per_node;
    if (in_node && d % per_node == 0)
      out += fmt::format("  subgraph cluster_{0} {{ label=\"node {0}\";\n", d / per_node);
    out += fmt::format("  d{} [label={}, {}];\n", d, in_quotes(all.devices[d].name), style(all.devices[d].kind));
    if (in_node && d % per_node == per_node - 1) out += "  }\n";
  }
  std::multiset<std::tuple<std::uint32_t, std::uint32_t, LinkKind, double>> waiting;  // links whose way back is to come
  for (const ExpandedLink& link : all.links) {
    const auto back = waiting.find({link.to, link.from, link.kind, link.bandwidth.value});
    if (back == waiting.end()) {
      waiting.insert({link.from, link.to, link.kind, link.bandwidth.value});
      continue;
    }
    waiting.erase(back);
    out += fmt::format("  d{} -- d{} [label={}, color={}];\n", link.to, link.from, in_quotes(text(link.bandwidth)),
                       color(link.kind));
  }
  for (const auto& [from, to, kind, bandwidth] : waiting) {
    out += fmt::format("  d{} -- d{} [dir=forward, label={}, color={}];\n", from, to,
                       in_quotes(text(Bandwidth{bandwidth})), color(kind));
  }
  return out + "}\n";
}

extern const Export dot_export;
constinit const Export dot_export{.name = "dot", .summary = "the graph for Graphviz", .write = to_dot};

}  // namespace stepcast::topology
