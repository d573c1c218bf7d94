#pragma once

#include <cstdint>
#include <vector>

#include "topology/cluster.h"
#include "topology/graph.h"

namespace stepcast::topology {

/// A way inside one node: places in Graph::edges, and what they add up to. `found` is false where there is none.
struct NodeRoute {
  bool found = false;
  std::vector<std::uint32_t> edges;
  Time latency{};
  Bandwidth bandwidth{};  ///< of the narrowest link; infinite where there is no link
  PathKind kind = PathKind::same_gpu;
};

/// One node, with all its ways found once: between all GPUs, and between each GPU and its NIC.
struct NodeTemplate {
  Graph graph;
  std::vector<std::uint32_t> gpus, nics;          ///< places in graph.devices
  std::vector<NodeRoute> gpu_to_gpu;              ///< [from * gpus + to]
  std::vector<std::uint32_t> nic_of;              ///< [gpu]: place in `nics`; kNoNic without one in reach
  std::vector<NodeRoute> gpu_to_nic, nic_to_gpu;  ///< [gpu]: to and from its own NIC
  static constexpr std::uint32_t kNoNic = 0xffffffffu;

  const NodeRoute& between(std::uint32_t from, std::uint32_t to) const { return gpu_to_gpu[from * gpus.size() + to]; }
};

/// GPU to GPU: NVLink where it leads there, else PCIe and sockets; without `pcie_p2p` the latter go up to the socket of
/// the sender and down again. GPU to NIC: never over NVLink. A GPU's NIC is the nearest by sockets crossed, then hops;
/// of equally near ones the one that serves the fewest GPUs so far, then the first.
NodeTemplate make_node_template(Graph graph, bool pcie_p2p);

}  // namespace stepcast::topology
