#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "topology/fabric.h"
#include "topology/gpu_slots.h"
#include "topology/ids.h"
#include "topology/node_template.h"

namespace stepcast::topology {

/// What a Cluster is made of; nothing outside topology/ includes this.
/// Links of a node: the template's edges, then, where there is a fabric, each NIC's cable up and down.
/// Link id = node * links_per_node + place; the fabric's links follow the last node's.
struct ClusterParts {
  NodeTemplate node;
  std::unique_ptr<const Fabric> fabric;  ///< none for a single node
  std::uint64_t hashing = 0;             ///< added to the names of flows, so that they hash otherwise; 0: as they are
  std::vector<std::uint32_t> kinds_of_nodes;  ///< as Cluster has it
  GpuSlots gpus{1, 1u};                       ///< in use
  std::uint32_t links_per_node = 0;
  bool nvlink_sharp = false, in_network_reduction = false;  ///< what its switches can add up
  std::uint32_t compute_capability = 80;                    ///< as NodeSpec has it
  CpuVendor cpu = CpuVendor::intel;
  bool pcie_p2p = true;         ///< as NodeSpec has it
  Bandwidth port_data_sheet{};  ///< a NIC's cable, one direction, before what bulk transfers reach of it
  Bandwidth port{};             ///< a NIC's cable, one direction
  NcclOverNetwork nccl{};       ///< over a NIC
  Time port_up{}, port_down{};  ///< NIC to leaf; leaf to NIC

  std::uint32_t node_edges() const { return static_cast<std::uint32_t>(node.graph.edges.size()); }
  std::uint32_t fabric_base() const { return gpus.nodes() * links_per_node; }
  LinkId node_link(std::uint32_t node_index, std::uint32_t place) const {
    return LinkId{node_index * links_per_node + place};
  }
  LinkId port_link(std::uint32_t node_index, std::uint32_t nic, bool down) const {
    return node_link(node_index, node_edges() + 2 * nic + (down ? 1 : 0));
  }

  std::uint32_t devices_per_node() const { return static_cast<std::uint32_t>(node.graph.devices.size()); }
  std::uint32_t devices() const { return gpus.nodes() * devices_per_node() + (fabric ? fabric->switches : 0); }
  /// Devices are numbered node by node, then the fabric's switches.
  Device device(std::uint32_t index) const;

  /// A link without names: the ends are device numbers.
  struct LinkEnds {
    std::uint32_t from = 0, to = 0;
    LinkKind kind{};
    Bandwidth bandwidth{};
    Time latency{};
  };
  /// Throws std::logic_error for an id beyond the last. O(1).
  LinkEnds ends(LinkId id) const;
  /// The same as ends(id).bandwidth, for whoever asks for nothing else.
  Bandwidth bandwidth(LinkId id) const;
};

}  // namespace stepcast::topology
