#pragma once

#include <string>

#include "topology/cluster.h"

namespace stepcast::topology {

/// One node of the cluster as NCCL reads it (NCCL_TOPO_FILE), with the GPUs in use. PCIe links are named by the
/// generation and width that carry nearest to what ours does, GPUs by the compute capability whose NVLinks do, sockets
/// by a processor likewise. What NCCL cannot say is left out: latencies, and links between processors by pair. Throws
/// InputError for a node without a processor. Reading it back (topology/import/nccl_xml.h) gives the same matrix.
std::string to_nccl_xml(const Cluster& cluster);

}  // namespace stepcast::topology
