#include "models/cost/kernel.h"

#include "models/cost/elementwise.h"
#include "models/cost/fused_attention.h"
#include "models/cost/gemm.h"
#include "sim/long_time.h"

namespace stepcast::schedules {

namespace {

GemmMachine machine(const Gpu& gpu, Precision precision) {
  return {gpu.sms, peak(gpu, precision), gpu.memory_bandwidth, gpu.memory_efficiency};
}

Time time_of(const KernelCost& c, const Gemm& kernel) {
  GemmShape each = kernel.shape;
  each.batch /= kernel.kernels;
  const Precision here = kernel.low_precision ? c.precision : beside_low_precision(c.precision);
  GemmModel model = gemm_model(c.gpu, here);
  if (kernel.scales_rows) {
    model.mainloop *= c.gpu.fp8_rowwise_share;
    model.sustained *= c.gpu.fp8_rowwise_share;
  }
  const Time alone = gemm_time(each, model, machine(c.gpu, here));
  // Experts in one kernel; of a transformer's linear layers they alone are several multiplies.
  const Time joined = kernel.linear && each.batch > 1 ? c.software.grouped_multiply_launch * each.batch : Time{};
  return (c.in_a_step(alone) + joined + c.software.kernel_gap) * kernel.kernels;
}

Time time_of(const KernelCost& c, const Convolution& kernel) {
  GemmMachine here = machine(c.gpu, c.precision);
  if (kernel.winograd && !has_matrix_units(c.precision)) here.peak = here.peak * c.software.winograd;
  return c.in_a_step(convolution_time(kernel.shape, kernel.read, gemm_model(c.gpu, c.precision), here)) +
         c.software.kernel_gap;
}

Time time_of(const KernelCost& c, const Elementwise& kernel) {
  // Calibration measures kernels that do all in one or two passes; what takes more launches is the framework's own.
  const double share = kernel.kernels <= 2 ? measured_share(c.gpu, kernel).value_or(c.software.elementwise_efficiency)
                                           : c.software.elementwise_efficiency;
  return c.in_a_step(
             from_seconds(kernel.bytes / (streaming_rate(c.gpu) * share).value,
                          "one elementwise kernel takes more than 106 days at cluster.node.gpu.memory.bandwidth")) +
         (c.software.kernel_gap + c.gpu.memory_ramp) * kernel.kernels;
}

Time time_of(const KernelCost& c, const FusedAttention& kernel) {
  return c.in_a_step(fused_attention_time(kernel, c.gpu, c.software, c.precision)) +
         c.software.kernel_gap * kernel.kernels;
}

Time time_of(const KernelCost&, const TensorCollective&) { return {}; }

}  // namespace

Time KernelCost::in_a_step(Time alone) const {
  const double share = software.compute_share * gpu.step_share;
  return share == 1 ? alone : from_seconds(to_seconds(alone) / share);
}

HostLaunches KernelCost::launch(const Kernel& kernel, const Kernel* before) const {
  if (const auto* traffic = std::get_if<TensorCollective>(&kernel)) {
    const Time own = software.host_per_collective.value_or(software.host_per_kernel);
    return {1, traffic->among == Among::tensor ? own + software.host_per_peer * peers : own};
  }
  if (software.compiled && std::holds_alternative<Elementwise>(kernel)) {
    const bool joins = before != nullptr && std::holds_alternative<Elementwise>(*before);
    return joins ? HostLaunches{} : HostLaunches{1, software.host_per_kernel};
  }
  return {launches(kernel), software.host_per_kernel};
}

Time KernelCost::time(const Kernel& kernel) const {
  return std::visit([&](const auto& k) { return time_of(*this, k); }, kernel);
}

}  // namespace stepcast::schedules
