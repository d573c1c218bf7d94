#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/units.h"
#include "topology/nccl_over_network.h"

namespace stepcast::topology {

/// c2c: of a GPU to the CPU on its module (NVLink-C2C), in the place of PCIe.
enum class LinkKind : std::uint8_t { nvlink, pcie, c2c, socket, network };

/// A kind of cable or trace, from configs/links/: what one link of it carries in one direction.
struct LinkType {
  std::string name;
  LinkKind kind = LinkKind::pcie;
  Bandwidth bandwidth{};    ///< per direction, as the data sheet says
  double efficiency = 1.0;  ///< payload share of it that bulk transfers reach, (0, 1]
  Time latency{};           ///< one way through the link and the device at its far end
  std::string source;
  /// Of a network: what nobody measured of it is as others of the family have it ("infiniband", "efa").
  std::string family{};
  NcclOverNetwork nccl{};  ///< of a network, where it is a node's adapter
  /// Whose constants `nccl` has, in words, where the link itself says nothing of NCCL; empty: its own.
  std::string nccl_assumed{};
  friend bool operator==(const LinkType&, const LinkType&) = default;
};

enum class CpuVendor : std::uint8_t { intel, amd, other };

/// A device and a link of a hand-written graph (builder "graph").
struct GraphDevice {
  std::string name;
  std::string kind;  ///< gpu, cpu, pcie-switch, nvswitch, nic
  friend bool operator==(const GraphDevice&, const GraphDevice&) = default;
};
struct GraphLink {
  std::string from, to;  ///< both directions are built
  LinkType type;
  std::uint32_t count = 1;
  friend bool operator==(const GraphLink&, const GraphLink&) = default;
};

/// One machine, from configs/nodes/. `builder` names who turns it into a graph (topology/node_builders.cpp lists them);
/// of the fields that not all need, a builder reads those of `Builder::reads`.
struct NodeSpec {
  std::string name;
  std::string builder = "nvswitch";
  std::string gpu;                        ///< name of a file of configs/gpus/
  std::uint32_t compute_capability = 80;  ///< of the GPU, times ten; assumed where not said
  CpuVendor cpu = CpuVendor::intel;
  std::uint32_t gpus = 8;
  std::uint32_t sockets = 2;
  std::uint32_t socket_links = 1;          ///< of `socket_link`, between each two sockets: a flow takes one of them
  double host_time = 1;                    ///< of host work, what it takes on these CPUs over what stacks say
  std::optional<Bytes> host_memory{};      ///< of the whole node; none: not known
  std::uint32_t gpus_per_pcie_switch = 2;  ///< 0: GPUs hang off the socket directly
  std::uint32_t nics = 0;                  ///< spread evenly over the PCIe switches (or sockets)
  std::uint32_t nvlinks_per_gpu = 0;
  std::uint32_t nvswitch_boards = 1;  ///< builder "nvswitch": groups of GPUs with NVSwitches of their own
  std::uint32_t trunk_nvlinks = 0;    ///< between the NVSwitches of two boards
  std::uint32_t trays = 1;            ///< parts with sockets of their own, which only NVLink joins
  std::string nvlink_pairs;           ///< builder "mesh": "0-1, 0-3 x2" or "all x4": NVLinks of pairs of GPUs
  std::string torus;                  ///< builder "torus": "16x16" or "4x4x8" GPUs
  bool torus_wraps = true;            ///< false: a mesh, without the links that close the rings
  bool pcie_p2p = true;               ///< false: PCIe copies bounce through host memory
  bool nvlink_forwarding = false;     ///< GPUs pass on traffic of others; true of no NVLink GPU
  bool nvlink_sharp = false;          ///< its NVSwitches add up what GPUs push to them (Hopper's and later)
  std::optional<LinkType> nvlink, pcie, socket_link, nic;
  std::optional<LinkType> nic_pcie;  ///< PCIe link of a NIC; none: like any device's
  std::vector<GraphDevice> devices;  ///< builder "graph" only
  std::vector<GraphLink> links;      ///< builder "graph" only
  std::string fabric;                ///< what usually joins such nodes: a file of configs/fabrics/
  std::string source;
  friend bool operator==(const NodeSpec&, const NodeSpec&) = default;
};

/// A switch of a hand-written fabric (kind "graph"), and the nodes that plug into it.
struct FabricSwitch {
  std::string name;
  std::string nodes;  ///< a list as Slurm writes one (topology/hostlist.h); empty: none
  std::string nics;   ///< of these nodes, "0-3,6"; empty: all
  friend bool operator==(const FabricSwitch&, const FabricSwitch&) = default;
};

/// Cables of a hand-written fabric: from each switch of one list to each of another.
struct FabricCables {
  std::string from, to;                  ///< lists of switches, as lists of nodes are written
  std::optional<Bandwidth> bandwidth{};  ///< of one cable in one direction, as the data sheet says; none: a NIC's
  std::uint32_t count = 1;               ///< parallel cables
  friend bool operator==(const FabricCables&, const FabricCables&) = default;
};

/// What joins the nodes, from configs/fabrics/.
struct FabricSpec {
  std::string name;
  std::string kind = "one-switch";   ///< topology/fabrics.cpp lists them
  std::uint32_t radix = 40;          ///< ports of one switch
  std::uint32_t levels = 0;          ///< of a fat tree; 0: as few as reach all nodes
  std::uint32_t groups = 0;          ///< of a dragonfly+, at least; 0: as few as hold all nodes
  std::string torus;                 ///< routers along each side: "8x8", "4x4x8"
  double oversubscription = 1.0;     ///< down over up bandwidth at the leaf, >= 1
  std::string routing = "adaptive";  ///< adaptive: equal-cost paths share perfectly; hash: ECMP, collisions visible;
                                     ///< spray: each packet draws its path
  std::uint64_t seed = 0;            ///< routing hash: which of the possible hashings
  /// Routing spray: what equal-cost paths carry together, of what their links could, (0, 1]. None: not stated.
  std::optional<double> spray_efficiency{};
  std::vector<FabricSwitch> switches{};  ///< kind "graph" only
  std::vector<FabricCables> cables{};    ///< kind "graph" only
  bool in_network_reduction = false;     ///< its switches add up what nodes push to them (SHARP), and it is switched on
  Time switch_latency{};                 ///< one switch, port to port
  Time cable_latency{};                  ///< one cable
  std::string source;
  friend bool operator==(const FabricSpec&, const FabricSpec&) = default;
};

}  // namespace stepcast::topology
