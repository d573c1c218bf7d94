#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "topology/graph.h"

namespace stepcast::topology {

/// The host side that most machines share: sockets of a tray joined all to all, PCIe switches of `gpus_per_pcie_switch`
/// GPUs spread over them in order, NICs spread evenly over the switches (or over the sockets where there are no
/// switches), every device on its own PCIe link and every switch on one up-link to its socket. Reads gpus, sockets,
/// trays, gpus_per_pcie_switch, nics, pcie, nic_pcie, socket_link. Returns the GPUs' places in the graph.
std::vector<std::uint32_t> add_pcie_tree(Graph& graph, const NodeSpec& node);

/// The field's link type; throws InputError "builder 'nvswitch' needs 'nvlink', a file of configs/links/" without one,
/// and for a type that carries nothing.
const LinkType& need(const NodeSpec& node, std::string_view field, const std::optional<LinkType>& type);

/// Throws InputError unless bandwidth > 0, 0 < efficiency <= 1 and latency >= 0.
void check(const NodeSpec& node, const LinkType& type);

}  // namespace stepcast::topology
