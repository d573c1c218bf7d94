#pragma once

#include <cstdint>
#include <vector>

#include "topology/graph.h"
#include "topology/spec.h"

namespace stepcast::topology {

/// The host side that most machines share: sockets of a tray joined all to all, PCIe switches of `gpus_per_pcie_switch`
/// GPUs spread over them in order, NICs spread evenly over the switches (or over the sockets where there are no
/// switches), every device on its own PCIe link and every switch on one up-link to its socket. Reads gpus, sockets,
/// trays, gpus_per_pcie_switch, nics, pcie, nic_pcie, socket_link. Returns the GPUs' places in the graph.
std::vector<std::uint32_t> add_pcie_tree(Graph& graph, const NodeSpec& node);

}  // namespace stepcast::topology
