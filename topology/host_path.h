#pragma once

#include <optional>

#include "topology/cluster.h"

namespace stepcast::topology {

/// The way between two GPUs of one node over PCIe and sockets, though NVLink joins them; nothing where there is none or
/// the GPUs are on different nodes. Copies go from GPU to GPU: a node without PCIe peer-to-peer has no such way.
/// Builds a router, as does the other: meant for a few calls per plan.
std::optional<Path> host_path(const Cluster& cluster, GpuId from, GpuId to);

enum class ToHost : bool { no, yes };

/// The way from a GPU to the memory of the nearest CPU of its node, or back, over PCIe. Nothing where no such way leads
/// to a CPU.
std::optional<Path> host_path(const Cluster& cluster, GpuId gpu, ToHost direction);

}  // namespace stepcast::topology
