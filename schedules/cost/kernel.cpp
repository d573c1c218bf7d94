#include "schedules/cost/kernel.h"

namespace stepcast::schedules {

Time KernelCost::time(const Gemm& kernel) const {
  const GemmMachine machine{gpu.sms, peak(gpu, precision), gpu.memory_bandwidth, gpu.memory_efficiency};
  return gemm_time(kernel.shape, gpu.gemm, machine) + software.kernel_gap;
}

Time KernelCost::time(const Elementwise& kernel) const {
  return from_seconds(kernel.bytes /
                      (gpu.memory_bandwidth.value * gpu.memory_efficiency * software.elementwise_efficiency)) +
         software.kernel_gap * kernel.kernels;
}

Time KernelCost::time(const FusedAttention& kernel) const {
  const double share = kernel.backward ? gpu.attention_backward : gpu.attention_forward;
  constexpr double kCausal = 0.5;  // the half above the diagonal is skipped
  return Flops{kernel.flops.value * kCausal} / (peak(gpu, precision) * share) + software.kernel_gap * kernel.kernels;
}

}  // namespace stepcast::schedules
