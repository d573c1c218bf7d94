#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "scenario/gpu.h"
#include "topology/allocation.h"
#include "topology/cluster.h"
#include "topology/spec.h"

namespace stepcast::schedules {

/// GPUs of a second kind in the nodes' sockets: from the `first` one on.
struct OtherGpus {
  Gpu gpu;
  std::uint32_t first = 0;
};

struct ClusterSpec {
  topology::NodeSpec node;
  topology::FabricSpec fabric;
  Gpu gpu;
  std::uint32_t gpus = 0;
  std::optional<topology::Allocation> allocation{};  ///< which ones; none: the first
  std::optional<OtherGpus> other{};
  std::string nccl{};  ///< the software stack whose transport such machines have, of configs/software/
  /// Why that one, in words, where the node does not name it; empty: it does.
  std::string nccl_assumed{};
};

/// Nodes that so many of its GPUs fill, the last one perhaps in part.
inline std::uint32_t nodes_filled(const ClusterSpec& cluster, std::uint32_t gpus) {
  const std::uint32_t each = std::max(cluster.node.gpus, 1u);
  return (gpus + each - 1) / each;
}
/// That all of its GPUs fill.
inline std::uint32_t nodes_filled(const ClusterSpec& cluster) { return nodes_filled(cluster, cluster.gpus); }
/// Nodes that have a GPU in use.
inline std::uint32_t nodes_in_use(const ClusterSpec& cluster) {
  return cluster.allocation ? static_cast<std::uint32_t>(cluster.allocation->nodes.size()) : nodes_filled(cluster);
}

/// Whether a GPU is of the cluster's second kind, and which GPU it is.
inline bool is_other(const ClusterSpec& cluster, topology::GpuId gpu) {
  return cluster.other && topology::index(gpu) >= cluster.other->first;
}
inline const Gpu& gpu_of(const ClusterSpec& cluster, topology::GpuId gpu) {
  return is_other(cluster, gpu) ? cluster.other->gpu : cluster.gpu;
}

}  // namespace stepcast::schedules
