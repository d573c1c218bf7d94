#include "models/layers/fusion.h"

namespace stepcast::schedules {
Software with_fusion(Software software, Fusion fusion) {
  const bool all = fusion == Fusion::all;
  software.fused_softmax = software.fused_bias_gelu = software.fused_bias_dropout_add = all;
  software.fused_norm_relu = all;
  software.fused_cross_entropy = all ? FusedLoss::yes : FusedLoss::no;
  software.composite_operators = software.composite_operators && !all;
  return software;
}

KernelTraffic kernel_traffic(const Blocks& blocks) {
  KernelTraffic all;
  for (const std::uint32_t kind : blocks.order)
    for (const Kernels Block::*pass : {&Block::forward, &Block::recompute, &Block::backward})
      for (const Kernel& kernel : blocks.kinds[kind].*pass) {
        all.launches += launches(kernel);
        if (const auto* elementwise = std::get_if<Elementwise>(&kernel)) all.bytes += elementwise->bytes;
      }
  return all;
}

}  // namespace stepcast::schedules
