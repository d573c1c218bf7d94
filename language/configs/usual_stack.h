#pragma once

#include <cstdint>
#include <string>

#include "topology/spec.h"

namespace stepcast::language {

/// A stack of configs/software/, and why that one, in words.
struct UsualStack {
  std::string name, why;
};

/// The stack whose transport stands in where a node names none (`nccl`): that of boxes whose GPUs PCIe joins, else that
/// of the GPUs' generation. `compute_capability` is NVIDIA's, times ten; 0: not known, and then that of DGX A100, which
/// also stands in for the chips of a torus (TPU), where there is no NCCL.
UsualStack usual_stack(const topology::NodeSpec& node, std::uint32_t compute_capability);

/// What the stack that a node names was fitted on, in words. All recordings are of NVIDIA's GPUs, which alone have a
/// compute capability. `recorded_network`: the network between the nodes is none, or one that says what NCCL costs on
/// it.
std::string fitted_on(const std::string& gpu, std::uint32_t compute_capability, bool recorded_network);

}  // namespace stepcast::language
