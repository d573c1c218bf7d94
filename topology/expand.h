#pragma once

#include <cstdint>
#include <vector>

#include "topology/cluster.h"
#include "topology/graph.h"

namespace stepcast::topology {

/// One direction of a link between two devices by their place in Expanded::devices.
struct ExpandedLink {
  std::uint32_t from = 0, to = 0;
  LinkKind kind{};
  Bandwidth bandwidth{};  ///< payload bytes per second
  Time latency{};
};

/// The whole cluster as one plain multigraph. Devices: node by node, then the fabric's switches; links[i] is LinkId i.
struct Expanded {
  std::vector<Device> devices;
  std::vector<ExpandedLink> links;
  std::uint32_t nodes = 0, devices_per_node = 0;
};

/// For exports, drawings and tests. O(devices + links) time and memory: grows with GPUs, unlike the cluster itself.
Expanded expand(const Cluster& cluster);

}  // namespace stepcast::topology
