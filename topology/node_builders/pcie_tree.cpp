#include "topology/node_builders/pcie_tree.h"

#include <string>

#include "sim/input_error.h"
#include "topology/link_types.h"

namespace stepcast::topology {

std::vector<std::uint32_t> add_pcie_tree(Graph& graph, const NodeSpec& node) {
  if (node.gpus == 0) throw InputError(node.name, "gpus: a node has at least 1");
  if (node.sockets == 0) throw InputError(node.name, "sockets: a node has at least 1");
  if (node.trays == 0 || node.sockets % node.trays != 0) {
    throw InputError(node.name, "trays: " + std::to_string(node.sockets) + " sockets cannot be spread evenly over " +
                                    std::to_string(node.trays));
  }
  if (node.socket_links == 0) throw InputError(node.name, "socket_links: sockets are joined by at least 1");
  const std::uint32_t sockets_per_tray = node.sockets / node.trays;
  const LinkType& pcie = need(node, "pcie", node.pcie);

  std::vector<std::uint32_t> sockets;
  for (std::uint32_t s = 0; s < node.sockets; ++s) {
    sockets.push_back(graph.add(DeviceKind::cpu, "cpu " + std::to_string(s)));
    for (std::uint32_t other = s - s % sockets_per_tray; other < s; ++other) {
      const LinkType& type = need(node, "socket_link", node.socket_link);
      for (std::uint32_t link = 0; link < node.socket_links; ++link) graph.join(sockets[other], sockets[s], type);
    }
  }

  // What GPUs and NICs plug into: the PCIe switches, or the sockets themselves.
  std::vector<std::uint32_t> hubs = sockets;
  if (node.gpus_per_pcie_switch > 0) {
    const std::uint32_t switches = (node.gpus + node.gpus_per_pcie_switch - 1) / node.gpus_per_pcie_switch;
    hubs.clear();
    for (std::uint32_t s = 0; s < switches; ++s) {
      hubs.push_back(graph.add(DeviceKind::pcie_switch, "pcie switch " + std::to_string(s)));
      graph.join(hubs[s], sockets[s * node.sockets / switches], pcie);
    }
  }
  const auto hub_count = static_cast<std::uint32_t>(hubs.size());

  std::vector<std::uint32_t> gpus;
  for (std::uint32_t g = 0; g < node.gpus; ++g) {
    gpus.push_back(graph.add(DeviceKind::gpu, "gpu " + std::to_string(g)));
    const std::uint32_t hub = node.gpus_per_pcie_switch > 0 ? g / node.gpus_per_pcie_switch : g * hub_count / node.gpus;
    graph.join(gpus[g], hubs[hub], pcie);
  }
  const LinkType& nic_pcie = node.nic_pcie ? need(node, "nic_pcie", node.nic_pcie) : pcie;
  for (std::uint32_t n = 0; n < node.nics; ++n) {
    graph.join(graph.add(DeviceKind::nic, "nic " + std::to_string(n)), hubs[n * hub_count / node.nics], nic_pcie);
  }
  return gpus;
}

}  // namespace stepcast::topology
