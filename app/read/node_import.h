#pragma once

#include <optional>

#include "app/read/files.h"

namespace stepcast::app {

/// Values of `builder` whose machine is what another program wrote into `file`: a topology of NCCL, a matrix of
/// nvidia-smi.
Names import_builders();

/// {builder: nccl-xml, file: NAME} for a name that ends in .xml, likewise smi-matrix for .txt; nothing for others.
std::optional<Node> import_block(const Node& name);

/// Fills in what `file` says of a node of these builders: its devices and links, and its GPU, where the file names one
/// that configs/gpus/ has once. Where a topology has no NVLinks, `nvlinks_per_gpu` and `nvlink` add them, to
/// NVSwitches. nic, fabric, pcie_p2p, nvlink_forwarding and nvlink_sharp go over the file. Leaves
/// other builders' nodes alone. Throws InputError for a file that is missing or cannot be read, keys that the file
/// answers, and where the GPU is open.
void import_node(NodeFile& node, const Value& value);

}  // namespace stepcast::app
