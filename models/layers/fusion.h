#pragma once

#include "models/layers/blocks.h"
#include "scenario/software.h"

namespace stepcast::schedules {

/// A stack with every chain of elementwise kernels in one (scale, mask and softmax; bias and GELU; bias, dropout and
/// residual; batch norm, ReLU and addition; the loss), or with none: each operation of eager PyTorch reads and writes
/// memory by itself.
Software with_fusion(Software software, Fusion fusion);

/// Of one micro-batch, forward and backward with what is recomputed, through the whole model on one tensor rank.
struct KernelTraffic {
  double launches = 0;  ///< of all kernels
  double bytes = 0;     ///< that elementwise kernels read and write
};
KernelTraffic kernel_traffic(const Blocks& blocks);

}  // namespace stepcast::schedules
