#pragma once

#include "topology/cluster.h"
#include "topology/exports/nccl_xml.h"
#include "topology/matrix.h"
#include "topology/spec.h"

namespace stepcast::test {

/// Builds a machine that an importer read, if it is no larger than real ones, and looks at it as `stepcast topology`
/// does. Throws InputError.
inline void look_at(const topology::NodeSpec& node) {
  constexpr std::uint32_t kMostGpus = 16, kMostDevices = 256;
  if (node.gpus > kMostGpus || node.devices.size() > kMostDevices || node.links.size() > kMostDevices) return;
  const topology::Cluster cluster = topology::build_cluster(node, topology::FabricSpec{}, node.gpus);
  topology::pairs(cluster, kMostGpus);
  topology::to_nccl_xml(cluster);
}

}  // namespace stepcast::test
