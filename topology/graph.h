#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "topology/spec.h"

namespace stepcast::topology {

enum class DeviceKind : std::uint8_t { gpu, cpu, pcie_switch, nvswitch, nic, leaf, spine, core };

struct Device {
  std::string name;  ///< "gpu 2", "pcie switch 0", ...
  DeviceKind kind{};
};

/// One direction of a link, between two devices by their place in Graph::devices.
struct Edge {
  std::uint32_t from = 0, to = 0;
  LinkKind kind{};
  Bandwidth bandwidth{};  ///< payload: data sheet x efficiency x count
  Time latency{};
  std::uint32_t count = 1;  ///< physical links in this one
};

/// A directed multigraph of devices: what a builder makes of a NodeSpec. GPU i is the i-th device of kind gpu, NIC i
/// the i-th of kind nic.
struct Graph {
  std::vector<Device> devices;
  std::vector<Edge> edges;
  /// [from GPU * GPUs + to GPU]: by which edges GPUs pass on what is not for them, where the builder says it. Empty: by
  /// the fewest.
  std::vector<std::vector<std::uint32_t>> forwarded{};
  /// GPUs in a row of a torus of two dimensions that wraps round in both: moving all GPUs along maps it onto itself. 0:
  /// none.
  std::uint32_t torus_row = 0;

  std::uint32_t add(DeviceKind kind, std::string name);
  /// Both directions of `count` parallel links as one wide link each way.
  void join(std::uint32_t a, std::uint32_t b, const LinkType& type, std::uint32_t count = 1);
  /// Places in `devices` of all of one kind, in order.
  std::vector<std::uint32_t> all(DeviceKind kind) const;
};

/// Payload bytes per second of `count` links of a type in one direction: data sheet x efficiency x count.
Bandwidth payload(const LinkType& type, std::uint32_t count = 1);

}  // namespace stepcast::topology
