#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "collectives/forced.h"
#include "sim/units.h"
#include "topology/nccl_over_network.h"

namespace stepcast::collectives {

/// What a link has left for data: of a line that LL fills half is flags, of one that LL128 fills 8 bytes of 128.
inline constexpr double kMostOfLl = 0.5, kMostOfLl128 = 120.0 / 128;

/// How a library moves one message: a flag with every few bytes (LL, LL128) arrives sooner and leaves less of the line
/// to data. Times come on top of the links' own.
struct Protocol {
  Time launch{};       ///< once per collective: kernel launch and set-up, all but `ramp`
  Time ramp{};         ///< what working with all channels costs more than with none; k of C channels cost k / C of it
  Time nvlink_step{};  ///< per transfer between two GPUs, on top of the links' latency
  Time pcie_step{};
  Time host_step{};
  Time network_step{};
  double share = 0;          ///< of the rates that Simple reaches, (0, 1]; 0: the stack does not have this protocol
  double network_share = 1;  ///< what a network gets of that, (0, 1]: LL goes through host memory between nodes
  Time message{};  ///< each further message of a rank to or from another one, which a rank starts one after the other
  friend bool operator==(const Protocol&, const Protocol&) = default;
};

/// What a site's network gives traffic of groups over so many nodes, of what it gives two nodes alone on it, (0, 1].
struct ShareOverNodes {
  std::uint32_t nodes = 0;
  double share = 1;
  friend bool operator==(const ShareOverNodes&, const ShareOverNodes&) = default;
};

/// What the communication library adds to the wires: a software stack's constants (configs/software/, `transport:`).
/// The link rates themselves are the topology's. Its own times are those of the Simple protocol.
struct Transport {
  std::string nccl_version = "2.30.7";  ///< the release: what it has, and what algorithm "nccl" takes
  Time launch{};                        ///< once per collective: kernel launch and set-up
  Time ramp{};                          ///< as Protocol's
  Time nvlink_step{};                   ///< per transfer between two GPUs, on top of the links' latency
  Time pcie_step{};
  Time host_step{};
  Time network_step{};
  std::uint32_t most_channels =
      std::numeric_limits<std::uint32_t>::max();  ///< rings side by side; each leaves a node by one NIC
  Bytes chunk{4 << 20};                           ///< pipelining grain of trees and chains, at most
  double network_efficiency = 1.0;                ///< share of a NIC's payload rate that collectives reach, (0, 1]
  double nvlink_efficiency = 1.0;                 ///< likewise for NVLink
  /// Share of its PCIe link's payload rate that an adapter reaches which hangs off a CPU: what it reads of GPUs and
  /// writes to them passes through the CPU's host bridge, which is no switch. (0, 1]; LL goes through host memory.
  double host_bridge_efficiency = 1.0;
  /// Share of a PCIe link's payload rate that copies through host memory reach, each way, of a GPU that sends and
  /// receives at the same time (NodeSpec::pcie_p2p false). (0, 1]
  double host_copy_efficiency = 1.0;
  /// What a GPU moves each way at most to or from an adapter that reads and writes host memory, without GPUDirect RDMA.
  /// None: as much as its links.
  std::optional<Bandwidth> host_staging_bandwidth{};
  double tree_efficiency = 1.0;  ///< trees' share of both: their kernels wait for several peers at once, (0, 1]
  /// Device memory: of what a connection of a channel keeps, the buffer of Simple (NCCL_BUFFSIZE). 0: what
  /// communicators take is not counted.
  Bytes buffer{};
  std::uint32_t channels = 16;  ///< blocks that copy and reduce; small sizes take fewer where a ramp makes that faster
  Protocol ll128{}, ll{};
  /// Reduction in the NVSwitches (nvls and nvls-tree), which has Simple only, with times of its own; share: of NVLink's
  /// rate beside `nvlink_efficiency`. 0: "auto" does not consider it.
  Protocol nvls{};
  /// Messages between two ranks (send_recv, all_to_all, gather, scatter), which know LL, for the smallest, and Simple
  /// with times of its own. 0: no recording tells; they take the fastest of what collectives have.
  Protocol p2p{};
  /// Host time to launch one GPU's part. A process that drives n GPUs starts a collective every n of these at most,
  /// which is what a log of small sizes then shows; a collective by itself does not take it.
  Time issue{};
  /// A rank's own part passes through the blocks that send, but not over a link: an out-of-place all_gather or
  /// all_to_all copies it, a reduce_scatter adds to it what comes in last. This share of the time that sending it would
  /// take, inside a node: a network takes far longer than this copy.
  double own_copy = 0;
  /// A message over the network costs, besides `network_step`, what its link says of NCCL (topology::NcclOverNetwork),
  /// and reaches that share of the rate. False: the wires alone.
  bool network_of_links = false;
  /// By rising nodes; none: a network gives groups of any size the same.
  std::vector<ShareOverNodes> network_shares{};
  /// What algorithm "library" is: what NCCL's own model picks (nccl/tuner.h). False: the fastest.
  bool as_nccl_picks = false;
  Forced forced{};
  friend bool operator==(const Transport&, const Transport&) = default;
};

/// What is forced on the library, beside what its network's plugin leaves of it. A user's word goes first.
Transport left_by(Transport transport, const topology::NcclPlugin& plugin);

/// Of a transport whose `network_of_links` says so: with what NCCL pays on this network in its own times of the
/// network, what its plugin leaves, and no more taken from the links. Any other as it is.
Transport over(Transport transport, const topology::NcclOverNetwork& network);

/// What `network_shares` has for groups over so many nodes: between two of them on the straight line of the logarithms,
/// beyond them the nearest.
double network_share_over(const Transport& transport, std::uint32_t nodes);

}  // namespace stepcast::collectives
