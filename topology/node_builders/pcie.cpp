#include <array>
#include <string_view>

#include "topology/link_types.h"
#include "topology/node_builders.h"
#include "topology/node_builders/pcie_tree.h"

namespace stepcast::topology {

namespace {

/// GPUs of one switch share its up-link. With `nvlinks_per_gpu`, bridges join GPUs 0 and 1, 2 and 3, and so on.
Graph build_pcie(const NodeSpec& node) {
  Graph graph;
  const std::vector<std::uint32_t> gpus = add_pcie_tree(graph, node);
  if (node.nvlinks_per_gpu > 0) {
    const LinkType& nvlink = need(node, "nvlink", node.nvlink);
    for (std::size_t g = 0; g + 1 < gpus.size(); g += 2) {
      graph.join(gpus[g], gpus[g + 1], nvlink, node.nvlinks_per_gpu);
    }
  }
  return graph;
}

constexpr std::array<std::string_view, 11> kReads = {
    "gpus",     "sockets",     "trays",        "gpus_per_pcie_switch", "nics",  "pcie",
    "nic_pcie", "socket_link", "socket_links", "nvlinks_per_gpu",      "nvlink"};

}  // namespace

extern const Builder pcie_builder;
constinit const Builder pcie_builder{
    .name = "pcie",
    .summary = "GPUs on PCIe switches or sockets, NVLink bridges between pairs if any",
    .source = "NVIDIA A100 PCIe product brief PB-10137-001 (NVLink bridges join two neighbours)",
    .reads = kReads,
    .build = build_pcie};

}  // namespace stepcast::topology
