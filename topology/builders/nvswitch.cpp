#include "sim/input_error.h"
#include "topology/builders.h"
#include "topology/builders/pcie_tree.h"

namespace stepcast::topology {

namespace {

/// Every GPU spreads its NVLinks over all NVSwitch chips alike, so the chips are one device and a GPU's links to it one
/// wide link: the switch fabric never blocks, and a GPU's own links are the only limit.
Graph build_nvswitch(const NodeSpec& node) {
  const LinkType& nvlink = need(node, "nvlink", node.nvlink);
  if (node.nvlinks_per_gpu == 0) throw InputError(node.name, "nvlinks_per_gpu: builder 'nvswitch' needs at least 1");
  Graph graph;
  const std::vector<std::uint32_t> gpus = add_pcie_tree(graph, node);
  const std::uint32_t nvswitch = graph.add(DeviceKind::nvswitch, "nvswitch");
  for (const std::uint32_t gpu : gpus) graph.join(gpu, nvswitch, nvlink, node.nvlinks_per_gpu);
  return graph;
}

}  // namespace

extern const Builder nvswitch_builder;
constinit const Builder nvswitch_builder{
    .name = "nvswitch",
    .summary =
        "all GPUs on NVSwitch, NICs beside them on PCIe switches (gpus, sockets, gpus_per_pcie_switch, nics, "
        "nvlinks_per_gpu, nvlink, pcie, socket_link, nic)",
    .source = "NVIDIA DGX A100 and DGX H100 user guides, system topology figures",
    .build = build_nvswitch};

}  // namespace stepcast::topology
