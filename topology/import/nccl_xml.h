#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "topology/spec.h"

namespace stepcast::topology {

/// A machine as NCCL writes it (NCCL_TOPO_DUMP_FILE), or as it is given to NCCL (NCCL_TOPO_FILE), as devices and links
/// for the builder "graph". Also RCCL's dialect with xGMI links. GPUs in the order of `dev` where all state it, else as
/// they stand; NVSwitches are one device, as in NCCL.
///
/// Bandwidths: PCIe by `link_speed` and `link_width` (Gen3 x16 where they are empty, as NCCL has it) times the payload
/// share of configs/links/pcie-*; NVLink by `sm`, sockets by the processor's model, both as in NCCL src/graph/topo.h;
/// `nic` has the commonest `speed`, and is not set where no network card states one. A skeleton without <gpu> elements
/// states no NVLinks: then copies go over PCIe, as they would in such a machine. NVLinks to the GPU itself or to
/// nothing in the file, PCIe of NVSwitches and c2c links are left out. NVSwitches add (nvlink_sharp) from sm 90 on, as
/// NCCL has it.
///
/// Throws InputError(place, ...) for what is no XML, no <system> or without GPUs, and for more than any machine has.
NodeSpec import_nccl_xml(std::string_view text, const std::string& place);

/// What such a file says its GPUs are, where it says so of all and the same.
struct XmlGpu {
  std::string pci_device;                ///< of NVIDIA or AMD: "0x20b0"; empty where it is not said
  std::uint32_t compute_capability = 0;  ///< NVIDIA's, times ten: 80; 0 where it is not said, and of RCCL's dialect
};

/// Throws as import_nccl_xml does.
XmlGpu identify_gpus(std::string_view text, const std::string& place);

}  // namespace stepcast::topology
