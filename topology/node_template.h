#pragma once

#include <cstdint>
#include <vector>

#include "topology/graph.h"
#include "topology/path.h"

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
  bool nvlink_forwarding = false;
  std::vector<std::uint32_t> gpus, nics;  ///< places in graph.devices
  std::vector<NodeRoute> gpu_to_gpu;      ///< [from * gpus + to]
  std::vector<std::vector<std::uint32_t>>
      nics_of;                                    ///< [gpu]: its own NICs, places in `nics`; none without one in reach
  std::vector<NodeRoute> gpu_to_nic, nic_to_gpu;  ///< [gpu * nics + nic]

  const NodeRoute& between(std::uint32_t from, std::uint32_t to) const { return gpu_to_gpu[from * gpus.size() + to]; }
  const NodeRoute& out(std::uint32_t gpu, std::uint32_t nic) const { return gpu_to_nic[gpu * nics.size() + nic]; }
  const NodeRoute& in(std::uint32_t nic, std::uint32_t gpu) const { return nic_to_gpu[gpu * nics.size() + nic]; }
};

/// What hardware does with a copy between GPUs that no single link joins.
struct CopyRules {
  bool pcie_p2p = true;            ///< false: PCIe copies go up to the socket of the sender and down again
  bool nvlink_forwarding = false;  ///< true: GPUs pass on what is not for them (TPU, AMD); NVLink GPUs do not
};

/// GPU to GPU: NVLink where it leads there, else PCIe and sockets. GPU to NIC: never over NVLink. A GPU's first NIC is
/// the nearest by sockets crossed, then hops; of equally near ones the one that serves the fewest GPUs so far, then the
/// first. A NIC that then serves nobody joins the GPU with the fewest NICs of those that have none nearer.
NodeTemplate make_node_template(Graph graph, CopyRules rules);

}  // namespace stepcast::topology
