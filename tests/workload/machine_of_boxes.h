#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "workload/machine.h"

namespace stepcast::workload::test {

/// So many boxes of eight GPUs on NVSwitches, joined by one network card each.
inline MachineSpec boxes_with_one_card(std::uint32_t boxes) {
  MachineSpec spec;
  spec.node.name = "box";
  spec.node.gpus = 8;
  spec.node.nics = 1;
  spec.node.nvlinks_per_gpu = 1;
  const auto link = [](const char* name, topology::LinkKind kind, double rate) {
    return topology::LinkType{.name = name, .kind = kind, .bandwidth = {rate}, .source = {}};
  };
  spec.node.nvlink = link("nvlink", topology::LinkKind::nvlink, 100e9);
  spec.node.pcie = link("pcie", topology::LinkKind::pcie, 50e9);
  spec.node.socket_link = link("socket", topology::LinkKind::socket, 50e9);
  spec.node.nic = link("nic", topology::LinkKind::network, 25e9);
  spec.gpus = 8 * boxes;
  return spec;
}

inline std::shared_ptr<const std::vector<collectives::Group>> groups(std::vector<collectives::Group> groups) {
  return std::make_shared<const std::vector<collectives::Group>>(std::move(groups));
}

}  // namespace stepcast::workload::test
