#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "workload/machine.h"

namespace stepcast::workload::test {

/// So many GPUs in boxes of eight on NVSwitches, each box with so many network cards.
inline MachineSpec boxes(std::uint32_t gpus, std::uint32_t nics) {
  MachineSpec spec;
  spec.node.name = "box";
  spec.node.gpus = 8;
  spec.node.nics = nics;
  spec.node.nvlinks_per_gpu = 1;
  const auto link = [](const char* name, topology::LinkKind kind, double rate) {
    return topology::LinkType{.name = name, .kind = kind, .bandwidth = {rate}, .source = {}};
  };
  spec.node.nvlink = link("nvlink", topology::LinkKind::nvlink, 100e9);
  spec.node.pcie = link("pcie", topology::LinkKind::pcie, 50e9);
  spec.node.socket_link = link("socket", topology::LinkKind::socket, 50e9);
  spec.node.nic = link("nic", topology::LinkKind::network, 25e9);
  spec.gpus = gpus;
  return spec;
}

inline std::shared_ptr<const std::vector<collectives::Group>> groups(std::vector<collectives::Group> groups) {
  return std::make_shared<const std::vector<collectives::Group>>(std::move(groups));
}

}  // namespace stepcast::workload::test
