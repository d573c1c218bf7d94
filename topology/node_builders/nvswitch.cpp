#include <array>
#include <string>
#include <string_view>

#include "sim/input_error.h"
#include "topology/link_types.h"
#include "topology/node_builders.h"
#include "topology/node_builders/pcie_tree.h"

namespace stepcast::topology {

namespace {

/// Every GPU spreads its NVLinks over all NVSwitch chips of its board alike, so the chips of a board are one device and
/// a GPU's links to it one wide link: the switches never block, and a GPU's own links are the only limit. Boards are
/// joined by `trunk_nvlinks`, pair by pair.
Graph build_nvswitch(const NodeSpec& node) {
  const LinkType& nvlink = need(node, "nvlink", node.nvlink);
  if (node.nvlinks_per_gpu == 0) throw InputError(node.name, "nvlinks_per_gpu: builder 'nvswitch' needs at least 1");
  const std::uint32_t boards = node.nvswitch_boards;
  if (boards == 0 || node.gpus % boards != 0) {
    throw InputError(node.name, "nvswitch_boards: " + std::to_string(node.gpus) +
                                    " GPUs cannot be spread evenly over " + std::to_string(boards));
  }
  if (boards > 1 && node.trunk_nvlinks == 0) {
    throw InputError(node.name, "trunk_nvlinks: " + std::to_string(boards) + " boards need at least 1");
  }
  if (boards == 1 && node.trunk_nvlinks > 0) {
    throw InputError(node.name, "trunk_nvlinks: found '" + std::to_string(node.trunk_nvlinks) +
                                    "' with one board, expected 0, or 2 boards and more (nvswitch_boards)");
  }
  Graph graph;
  const std::vector<std::uint32_t> gpus = add_pcie_tree(graph, node);
  std::vector<std::uint32_t> switches;
  for (std::uint32_t b = 0; b < boards; ++b) {
    switches.push_back(graph.add(DeviceKind::nvswitch, boards == 1 ? "nvswitch" : "nvswitch " + std::to_string(b)));
    for (std::uint32_t other = 0; other < b; ++other)
      graph.join(switches[other], switches[b], nvlink, node.trunk_nvlinks);
  }
  for (std::uint32_t g = 0; g < node.gpus; ++g) {
    graph.join(gpus[g], switches[g / (node.gpus / boards)], nvlink, node.nvlinks_per_gpu);
  }
  return graph;
}

constexpr std::array<std::string_view, 13> kReads = {
    "gpus",        "sockets",      "trays",           "gpus_per_pcie_switch", "nics",          "pcie",  "nic_pcie",
    "socket_link", "socket_links", "nvlinks_per_gpu", "nvswitch_boards",      "trunk_nvlinks", "nvlink"};

}  // namespace

extern const Builder nvswitch_builder;
constinit const Builder nvswitch_builder{.name = "nvswitch",
                                         .summary = "all GPUs on NVSwitch, NICs beside them on PCIe switches",
                                         .source = "NVIDIA DGX A100 and DGX H100 user guides, system topology figures",
                                         .reads = kReads,
                                         .build = build_nvswitch};

}  // namespace stepcast::topology
