#include <array>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "sim/input_error.h"
#include "topology/dimensions.h"
#include "topology/link_types.h"
#include "topology/node_builders.h"
#include "topology/node_builders/pcie_tree.h"

namespace stepcast::topology {

namespace {

/// Edges between neighbours: by the GPUs they join.
using Edges = std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t>;

/// Dimension by dimension, the shorter way round; half way round up: as the routers of a fabric that is a torus.
std::vector<std::uint32_t> forwarded(const Grid& grid, const Edges& edges, bool wraps, std::uint32_t from,
                                     std::uint32_t to) {
  std::vector<std::uint32_t> way;
  const auto shorter = [&](std::uint32_t d, std::uint32_t x, std::uint32_t target) {
    return wraps ? 2 * grid.forward(d, x, target) <= grid.side(d) : target > x;
  };
  grid.walk(from, to, shorter, [&](std::uint32_t, bool, std::uint32_t at, std::uint32_t next) {
    way.push_back(edges.at({at, next}));
  });
  return way;
}

/// GPU i is joined to its neighbours along every side; a side of two has one link, not two.
Graph build_torus(const NodeSpec& node) {
  const LinkType& nvlink = need(node, "nvlink", node.nvlink);
  const Grid grid(parse_sides(node.torus, node.name));
  if (grid.size() != node.gpus) {
    throw InputError(node.name, "torus: '" + node.torus + "' is " + std::to_string(grid.size()) +
                                    " GPUs, the node has " + std::to_string(node.gpus));
  }
  Graph graph;
  Edges edges;
  const std::vector<std::uint32_t> gpus = add_pcie_tree(graph, node);
  for (std::uint32_t d = 0; d < grid.dimensions(); ++d) {
    for (std::uint32_t g = 0; g < grid.size(); ++g) {
      const std::uint32_t x = grid.at(g, d), side = grid.side(d);
      const bool last = x + 1 == side;
      if (last && (side < 3 || !node.torus_wraps)) continue;
      const std::uint32_t next = grid.moved(g, d, last ? 0 : x + 1);
      edges[{g, next}] = static_cast<std::uint32_t>(graph.edges.size());
      edges[{next, g}] = edges[{g, next}] + 1;
      graph.join(gpus[g], gpus[next], nvlink);
    }
  }
  if (!node.nvlink_forwarding) return graph;
  for (std::uint32_t from = 0; from < grid.size(); ++from) {
    for (std::uint32_t to = 0; to < grid.size(); ++to) {
      graph.forwarded.push_back(forwarded(grid, edges, node.torus_wraps, from, to));
    }
  }
  if (node.torus_wraps && grid.dimensions() == 2) graph.torus_row = grid.side(0);
  return graph;
}

constexpr std::array<std::string_view, 12> kReads = {"gpus",         "sockets", "trays",       "gpus_per_pcie_switch",
                                                     "nics",         "pcie",    "nic_pcie",    "socket_link",
                                                     "socket_links", "torus",   "torus_wraps", "nvlink"};

}  // namespace

extern const Builder torus_builder;
constinit const Builder torus_builder{
    .name = "torus",
    .summary = "GPUs joined to their neighbours in two or three dimensions",
    .source = "Google Cloud TPU v5e documentation, system architecture: four links a chip, 2-D torus",
    .reads = kReads,
    .build = build_torus};

}  // namespace stepcast::topology
