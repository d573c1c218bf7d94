#pragma once

#include <optional>
#include <string>

#include "language/core/schema.h"
#include "topology/import/nccl_xml.h"
#include "topology/spec.h"

namespace stepcast::language {

/// Values of `builder` whose machine is what another program wrote into `file`: a topology of NCCL, a matrix of
/// nvidia-smi.
Names import_builders();

/// {builder: nccl-xml, file: NAME} for a name that ends in .xml, likewise smi-matrix for .txt; nothing for others.
std::optional<Node> import_block(const Node& name);

/// What a file says of a machine.
struct ImportedNode {
  topology::NodeSpec spec;
  topology::XmlGpu gpus;  ///< what it says of its GPUs, by which one of configs/gpus/ may be found
  std::string shown;      ///< the file, as messages call it
};

/// What `file` says of a node of these builders: its devices and links. `stated` is what the keys at `value` say: where
/// a topology has no NVLinks, `nvlinks_per_gpu` and `nvlink` add them, to NVSwitches; nic, fabric, pcie_p2p,
/// nvlink_forwarding and nvlink_sharp go over the file. `link_type` is the type of the keys that name links. Nothing
/// for other builders' nodes. Throws InputError for a file that is missing or cannot be read, and for keys that the
/// file answers.
std::optional<ImportedNode> import_node(const topology::NodeSpec& stated, const std::string& file, const Value& value,
                                        const Type& link_type);

}  // namespace stepcast::language
