#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "collectives/timing/timer.h"
#include "topology/cluster.h"

namespace stepcast::collectives::test {

/// A machine that is easy to reckon with: NVLink 100 GB/s, NIC 25 GB/s, PCIe far faster, no latency on any of them.
struct Machine {
  std::uint32_t nodes = 1, gpus = 8;  ///< nodes, and GPUs of each
  std::uint32_t nics = 0;             ///< of each node; 0: as many as GPUs
  std::string fabric = "one-switch";
  std::uint32_t radix = 40;
  std::string routing = "adaptive";
  std::uint64_t seed = 0;  ///< of the hashing
  double oversubscription = 1.0;
  double faster = 1.0;        ///< all rates times this
  bool behind_cpu = false;    ///< GPUs and adapters hang off CPUs, over PCIe of 40 GB/s
  bool switches_add = true;   ///< those of a node
  bool network_adds = false;  ///< and those between nodes
  std::string allocation{};   ///< which GPUs are in use, as cluster.allocation has it; empty: all
  Time nvlink_latency{}, nic_latency{}, switch_latency{};
};

inline topology::Cluster build(const Machine& machine) {
  topology::LinkType nvlink{.name = "nvlink",
                            .kind = topology::LinkKind::nvlink,
                            .bandwidth = {100e9 * machine.faster},
                            .latency = machine.nvlink_latency,
                            .source = {}};
  topology::LinkType pcie{.name = "pcie",
                          .kind = topology::LinkKind::pcie,
                          .bandwidth = {(machine.behind_cpu ? 40e9 : 1000e9) * machine.faster},
                          .source = {}};
  topology::LinkType nic{.name = "nic",
                         .kind = topology::LinkKind::network,
                         .bandwidth = {25e9 * machine.faster},
                         .latency = machine.nic_latency,
                         .source = {}};
  topology::NodeSpec node;
  node.name = "node";
  node.builder = "nvswitch";
  node.gpus = machine.gpus;
  node.sockets = machine.gpus % 2 == 0 ? 2 : 1;
  node.gpus_per_pcie_switch = machine.gpus % 4 == 0 ? 2 : 1;
  if (machine.behind_cpu) node.gpus_per_pcie_switch = 0;
  node.nics = machine.nics != 0 ? machine.nics : machine.gpus;
  node.nvlinks_per_gpu = 1;
  node.nvlink_sharp = machine.switches_add;
  node.nvlink = nvlink;
  node.pcie = pcie;
  node.socket_link = pcie;
  node.nic = nic;
  topology::FabricSpec fabric;
  fabric.name = "fabric";
  fabric.kind = machine.fabric;
  fabric.radix = machine.radix;
  fabric.switch_latency = machine.switch_latency;
  fabric.routing = machine.routing;
  fabric.seed = machine.seed;
  fabric.oversubscription = machine.oversubscription;
  fabric.in_network_reduction = machine.network_adds;
  if (!machine.allocation.empty())
    return topology::build_cluster(node, fabric, topology::parse_allocation(machine.allocation));
  return topology::build_cluster(node, fabric, machine.nodes * machine.gpus);
}

/// One node whose GPUs are a torus, or a mesh where it does not wrap: links of 100 GB/s, no latency.
inline topology::Cluster build_torus(std::uint32_t wide, std::uint32_t high, bool wraps = true) {
  const topology::LinkType link{
      .name = "ici", .kind = topology::LinkKind::nvlink, .bandwidth = {100e9}, .latency = {}, .source = {}};
  topology::NodeSpec node;
  node.name = "torus";
  node.builder = "torus";
  node.gpus = wide * high;
  node.torus = std::to_string(wide) + "x" + std::to_string(high);
  node.torus_wraps = wraps;
  node.nvlink_forwarding = true;
  node.nvlink = link;
  node.pcie = link;
  node.socket_link = link;
  return topology::build_cluster(node, {}, node.gpus);
}

/// `ranks` GPUs, the first of each `step`, from `first` on.
inline Group gpus(std::uint32_t ranks, std::uint32_t first = 0, std::uint32_t step = 1) {
  Group group;
  for (std::uint32_t i = 0; i < ranks; ++i) group.push_back(topology::GpuId{first + i * step});
  return group;
}

/// Of one group alone.
inline Timing one(Timer& timer, Operation operation, Bytes bytes, const Group& group, std::string_view algorithm,
                  bool fold = true) {
  return timer.time(operation, bytes, std::span(&group, 1), algorithm, fold);
}

}  // namespace stepcast::collectives::test
