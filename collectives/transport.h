#pragma once

#include <cstdint>
#include <limits>

#include "sim/units.h"

namespace stepcast::collectives {

/// What the communication library adds to the wires: a software stack's constants (configs/software/, `transport:`).
/// The link rates themselves are the topology's.
struct Transport {
  Time launch{};       ///< once per collective: kernel launch and set-up
  Time nvlink_step{};  ///< per transfer between two GPUs, on top of the links' latency
  Time pcie_step{};
  Time host_step{};
  Time network_step{};
  std::uint32_t most_channels =
      std::numeric_limits<std::uint32_t>::max();  ///< rings side by side; each leaves a node by one NIC
  Bytes chunk{4 << 20};                           ///< pipelining grain of trees and chains, at most
  double network_efficiency = 1.0;                ///< share of a NIC's payload rate that collectives reach, (0, 1]
  double nvlink_efficiency = 1.0;                 ///< likewise for NVLink
  double tree_efficiency = 1.0;  ///< trees' share of both: their kernels wait for several peers at once, (0, 1]
};

}  // namespace stepcast::collectives
