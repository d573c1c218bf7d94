#pragma once

#include <cstdint>
#include <vector>

#include "collectives/plan.h"
#include "topology/cluster.h"

namespace stepcast::collectives {

/// A connection's way between the GPUs of a group, of which `gpus` are on each node: over PCIe and sockets if it is
/// host-side. Of a way to a switch of the plan the part of that to another node's GPU that leads up to the network's
/// first switch, or inside one node the links between the GPU and its NVSwitches; from a switch likewise. Switches pass
/// on one sum between each other, on links that are no narrower than a NIC's: these are left out.
topology::Path path_of(const CollectivePlan& plan, const Connection& connection, const topology::Cluster& cluster,
                       const std::vector<topology::GpuId>& group, std::uint32_t gpus);

}  // namespace stepcast::collectives
