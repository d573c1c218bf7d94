#include "schedules/cost/kernel.h"

#include "schedules/cost/elementwise.h"
#include "sim/long_time.h"

namespace stepcast::schedules {

namespace {

GemmMachine machine(const Gpu& gpu, Precision precision) {
  return {gpu.sms, peak(gpu, precision), gpu.memory_bandwidth, gpu.memory_efficiency};
}

}  // namespace

Time KernelCost::in_a_step(Time alone) const {
  const double share = software.compute_share * gpu.step_share;
  return share == 1 ? alone : from_seconds(to_seconds(alone) / share);
}

Time KernelCost::time(const Gemm& kernel) const {
  GemmShape each = kernel.shape;
  each.batch /= kernel.kernels;
  const Precision here = kernel.low_precision ? precision : beside_low_precision(precision);
  const Time alone = gemm_time(each, gemm_model(gpu, here), machine(gpu, here));
  return (in_a_step(alone) + software.kernel_gap) * kernel.kernels;
}

Time KernelCost::time(const Convolution& kernel) const {
  GemmMachine here = machine(gpu, precision);
  if (kernel.winograd && !has_matrix_units(precision)) here.peak = here.peak * software.winograd;
  return in_a_step(convolution_time(kernel.shape, kernel.read, gemm_model(gpu, precision), here)) + software.kernel_gap;
}

Time KernelCost::time(const Elementwise& kernel) const {
  // Calibration measures kernels that do all in one or two passes; what takes more launches is the framework's own.
  const double share = kernel.kernels <= 2 ? measured_share(gpu, kernel.name).value_or(software.elementwise_efficiency)
                                           : software.elementwise_efficiency;
  return in_a_step(
             from_seconds(kernel.bytes / (streaming_rate(gpu) * share).value,
                          "one elementwise kernel takes more than 106 days at cluster.node.gpu.memory.bandwidth")) +
         (software.kernel_gap + gpu.memory_ramp) * kernel.kernels;
}

Time KernelCost::time(const FusedAttention& kernel) const {
  const double share = (kernel.backward ? gpu.attention_backward : gpu.attention_forward) *
                       (software.flash_2 ? gpu.attention_flash_2 : 1) * software.attention_efficiency;
  constexpr double kCausal = 0.5;  // the half above the diagonal is skipped
  double flops = kernel.flops.value * (kernel.causal ? kCausal : 1);
  // The last row of tiles has no half to skip: one SM still works on it when the others are done.
  if (kernel.causal && !kernel.backward && kernel.query_rows > 0)
    flops += kernel.flops.value * static_cast<double>(gpu.attention_tile) / kernel.query_rows * gpu.sms;
  return in_a_step(from_seconds(flops / (peak(gpu, beside_low_precision(precision)) * share).value,
                                "one attention kernel takes more than 106 days at cluster.node.gpu.peak")) +
         software.kernel_gap * kernel.kernels;
}

}  // namespace stepcast::schedules
