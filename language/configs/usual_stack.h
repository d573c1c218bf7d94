#pragma once

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

}  // namespace stepcast::language
