#include "schedules/model/fusion.h"

namespace stepcast::schedules {
namespace {

KernelTraffic traffic_of(const Operators& operators) {
  struct Of {
    KernelTraffic operator()(const Elementwise& k) const { return {static_cast<double>(k.kernels), k.bytes}; }
    KernelTraffic operator()(const FusedAttention& k) const { return {static_cast<double>(k.kernels), 0}; }
    KernelTraffic operator()(const Gemm&) const { return {1, 0}; }
    KernelTraffic operator()(const Convolution&) const { return {1, 0}; }
    KernelTraffic operator()(const TensorCollective&) const { return {1, 0}; }
  };
  KernelTraffic all;
  for (const Operator& op : operators) {
    const KernelTraffic one = std::visit(Of{}, op);
    all.launches += one.launches;
    all.bytes += one.bytes;
  }
  return all;
}

}  // namespace

Software with_fusion(Software software, Fusion fusion) {
  const bool all = fusion == Fusion::all;
  software.fused_softmax = software.fused_bias_gelu = software.fused_bias_dropout_add = all;
  software.fused_norm_relu = software.fused_cross_entropy = all;
  return software;
}

KernelTraffic kernel_traffic(const Blocks& blocks) {
  KernelTraffic all;
  for (const std::uint32_t kind : blocks.order)
    for (const Operators Block::*pass : {&Block::forward, &Block::recompute, &Block::backward}) {
      const KernelTraffic one = traffic_of(blocks.kinds[kind].*pass);
      all.launches += one.launches;
      all.bytes += one.bytes;
    }
  return all;
}

}  // namespace stepcast::schedules
