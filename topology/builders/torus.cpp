#include <string>

#include "sim/input_error.h"
#include "topology/builders.h"
#include "topology/builders/pcie_tree.h"
#include "topology/dimensions.h"

namespace stepcast::topology {

namespace {

/// GPU i is joined to its neighbours along every side; a side of two has one link, not two.
Graph build_torus(const NodeSpec& node) {
  const LinkType& nvlink = need(node, "nvlink", node.nvlink);
  const Grid grid(parse_sides(node.torus, node.name));
  if (grid.size() != node.gpus) {
    throw InputError(node.name, "torus: '" + node.torus + "' is " + std::to_string(grid.size()) +
                                    " GPUs, the node has " + std::to_string(node.gpus));
  }
  Graph graph;
  const std::vector<std::uint32_t> gpus = add_pcie_tree(graph, node);
  for (std::uint32_t d = 0; d < grid.dimensions(); ++d) {
    for (std::uint32_t g = 0; g < grid.size(); ++g) {
      const std::uint32_t x = grid.at(g, d), side = grid.side(d);
      if (x + 1 < side) graph.join(gpus[g], gpus[grid.moved(g, d, x + 1)], nvlink);
      if (x + 1 == side && side > 2 && node.torus_wraps) graph.join(gpus[g], gpus[grid.moved(g, d, 0)], nvlink);
    }
  }
  return graph;
}

}  // namespace

extern const Builder torus_builder;
constinit const Builder torus_builder{
    .name = "torus",
    .summary =
        "GPUs joined to their neighbours in two or three dimensions (gpus, torus, torus_wraps, nvlink, "
        "nvlink_forwarding, sockets, trays, gpus_per_pcie_switch, nics, pcie, nic_pcie, socket_link, nic)",
    .source = "Google Cloud TPU v5e documentation, system architecture: four links a chip, 2-D torus",
    .build = build_torus};

}  // namespace stepcast::topology
