#pragma once

#include <optional>

#include "topology/cluster.h"

namespace stepcast::collectives {

/// The way between two GPUs of one node over PCIe and sockets, though NVLink joins them; nothing where there is none or
/// the GPUs are on different nodes. Copies go from GPU to GPU: a node without PCIe peer-to-peer has no such way.
/// Builds a router: meant for a few calls per plan.
std::optional<topology::Path> host_path(const topology::Cluster& cluster, topology::GpuId from, topology::GpuId to);

}  // namespace stepcast::collectives
