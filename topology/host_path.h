#pragma once

#include <optional>

#include "topology/cluster.h"

namespace stepcast::topology {

enum class ToHost : bool { no, yes };

/// The way from a GPU to the memory of the nearest CPU of its node, or back: PCIe links, by hops. Nothing where no such
/// way leads to a CPU. O(links of a node).
std::optional<Path> host_path(const Cluster& cluster, GpuId gpu, ToHost direction);

}  // namespace stepcast::topology
