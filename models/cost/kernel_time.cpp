#include "models/cost/kernel_time.h"

#include <fmt/format.h>

#include <boost/math/distributions/normal.hpp>

#include "models/cost/chunk_scan.h"
#include "models/cost/elementwise.h"
#include "models/cost/fused_attention.h"
#include "models/cost/gemm.h"
#include "sim/long_time.h"

namespace stepcast::schedules {

namespace {

// Each kind of kernel has two functions below: `time_of` and `rating_of`.

GemmMachine machine(const Gpu& gpu, Precision precision) {
  return {gpu.sms, peak(gpu, precision), gpu.memory_bandwidth, gpu.memory_efficiency};
}

/// The training's precision, or the one that is used beside it where that is a low one.
Precision precision_of(const KernelCost& c, bool low_precision) {
  return low_precision ? c.precision : beside_low_precision(c.precision);
}

KernelRating multiply_rating(const KernelCost& c, const GemmShape& shape, Precision precision) {
  KernelRating rating{.shape = fmt::format("{} x {} x {}", shape.m, shape.k, shape.n),
                      .flops = shape.flops().value,
                      .rated = peak(c.gpu, precision).value,
                      .source = fmt::format("gpu.peak.{} x tiles, waves and power (gpu.gemm)", name(precision))};
  if (shape.batch > 1) rating.shape = fmt::format("{} times {}", shape.batch, rating.shape);
  return rating;
}

Precision precision_of(const KernelCost& c, const Gemm& kernel) {
  return kernel.plain_cores ? Precision::fp32 : precision_of(c, kernel.low_precision);
}

Time time_of(const KernelCost& c, const Gemm& kernel) {
  GemmShape each = kernel.shape;
  each.batch /= kernel.kernels;
  const Precision here = precision_of(c, kernel);
  GemmModel model = gemm_model(c.gpu, here);
  if (kernel.scales_rows) {
    model.mainloop *= c.gpu.fp8_rowwise_share;
    model.sustained *= c.gpu.fp8_rowwise_share;
  }
  const Time alone = gemm_time(each, model, machine(c.gpu, here));
  // Experts in one kernel; of a transformer's linear layers they alone are several multiplies.
  const Time joined = kernel.linear && each.batch > 1 ? c.software.grouped_multiply_launch * each.batch : Time{};
  return (c.multiply_in_a_step(alone) + joined + c.software.kernel_gap) * kernel.kernels;
}

KernelRating rating_of(const KernelCost& c, const Gemm& kernel) {
  const GemmShape& shape = kernel.shape;
  KernelRating rating = multiply_rating(c, shape, precision_of(c, kernel));
  rating.bytes = static_cast<double>(shape.batch) *
                 (static_cast<double>(shape.m + shape.n) * static_cast<double>(shape.k) * shape.input_bytes +
                  static_cast<double>(shape.m * shape.n * shape.output_bytes));
  return rating;
}

Time time_of(const KernelCost& c, const Convolution& kernel) {
  GemmMachine here = machine(c.gpu, c.precision);
  if (kernel.winograd && !has_matrix_units(c.precision)) here.peak = here.peak * c.software.winograd;
  const JoinedGroups groups = kernel.of_weights ? JoinedGroups::by_output : JoinedGroups::by_input;
  return c.multiply_in_a_step(
             convolution_time(kernel.shape, kernel.read, groups, gemm_model(c.gpu, c.precision), here)) +
         c.software.kernel_gap;
}

KernelRating rating_of(const KernelCost& c, const Convolution& kernel) {
  const GemmShape& shape = kernel.shape;
  KernelRating rating = multiply_rating(c, shape, c.precision);
  rating.bytes = kernel.read + static_cast<double>(shape.m * shape.n * shape.batch * shape.output_bytes);
  return rating;
}

Time time_of(const KernelCost& c, const ChunkProducts& kernel) {
  return c.multiply_in_a_step(chunk_scan_time(kernel, c.gpu, c.software)) + c.software.kernel_gap;
}

KernelRating rating_of(const KernelCost& c, const ChunkProducts& kernel) {
  return {.shape = kernel.steps > 1 ? fmt::format("{} chunks one after the other", kernel.steps) : "",
          .flops = kernel.flops.value,
          .bytes = kernel.bytes,
          .rated = chunk_scan_rate(kernel, c.gpu, c.software).value,
          .source = fmt::format("gpu.sms x software.scan_rates.{}_{}",
                                kernel.by == ScanKernels::mamba ? "mamba" : "delta_net",
                                kernel.backward ? "backward" : "forward")};
}

/// Calibration measures kernels that do all in one or two passes; what takes more launches is the framework's own.
std::optional<double> share_by_calibration(const KernelCost& c, const Elementwise& kernel) {
  return kernel.kernels <= 2 ? measured_share(c.gpu, kernel) : std::nullopt;
}

Time time_of(const KernelCost& c, const Elementwise& kernel) {
  const double share = share_by_calibration(c, kernel).value_or(c.software.elementwise_efficiency);
  return c.in_a_step(
             from_seconds(kernel.bytes / (streaming_rate(c.gpu) * share).value,
                          "one elementwise kernel takes more than 106 days at cluster.node.gpu.memory.bandwidth")) +
         (c.software.kernel_gap + c.gpu.memory_ramp) * kernel.kernels;
}

KernelRating rating_of(const KernelCost& c, const Elementwise& kernel) {
  return {.shape = kernel.kernels > 1 ? fmt::format("{} kernels", kernel.kernels) : "",
          .bytes = kernel.bytes,
          .rated = c.gpu.memory_bandwidth.value,
          .by_bytes = true,
          .source = share_by_calibration(c, kernel) ? "gpu.memory.bandwidth x measured share (gpu.elementwise)"
                                                    : "gpu.memory.bandwidth x software.elementwise_efficiency"};
}

Time time_of(const KernelCost& c, const FusedAttention& kernel) {
  return c.multiply_in_a_step(fused_attention_time(kernel, c.gpu, c.software, c.precision)) +
         c.software.kernel_gap * kernel.kernels;
}

KernelRating rating_of(const KernelCost& c, const FusedAttention& kernel) {
  const Precision precision = precision_of(c, kernel.low_precision);
  return {.shape = fmt::format("{:.0f} rows of scores{}", kernel.query_rows,
                               !kernel.causal      ? ""
                               : kernel.window < 1 ? ", causal: all outside a window is skipped"
                                                   : ", causal: half is skipped"),
          .flops = kernel.model_flops() - kernel.skipped_flops(),
          .rated = peak(c.gpu, precision).value,
          .source =
              fmt::format("gpu.peak.{} x gpu.attention.{}", name(precision), kernel.backward ? "backward" : "forward")};
}

Time time_of(const KernelCost&, const TensorCollective&) { return {}; }

KernelRating rating_of(const KernelCost&, const TensorCollective& kernel) {
  return {
      .shape = std::string(collectives::name(kernel.operation)) + (kernel.under_next ? ", under the next kernel" : ""),
      .bytes = static_cast<double>(kernel.bytes.value),
      .by_bytes = true};
}

/// Launches that a library makes one by one for a rank's experts; 0: it is no kernel of theirs.
std::int64_t launches_by_expert(const Kernel& kernel) {
  if (const auto* gemm = std::get_if<Gemm>(&kernel))
    return gemm->linear && gemm->shape.batch > gemm->kernels ? gemm->shape.batch : 0;
  const auto* elementwise = std::get_if<Elementwise>(&kernel);
  return elementwise != nullptr && elementwise->by_expert ? elementwise->kernels : 0;
}

Time at_share(Time alone, double share) { return share == 1 ? alone : from_seconds(to_seconds(alone) / share); }

}  // namespace

double KernelCost::share_in_a_step() const {
  const double of_gpu =
      is_low_precision(precision) ? gpu.low_precision_step_share.value_or(gpu.step_share) : gpu.step_share;
  return software.compute_share * of_gpu;
}

Time KernelCost::in_a_step(Time alone) const { return at_share(alone, share_in_a_step()); }

Time KernelCost::multiply_in_a_step(Time alone) const { return at_share(alone, share_in_a_step() / slowest); }

double slowest_of(const Gpu& gpu, std::uint32_t gpus) {
  if (gpu.spread == 0 || gpus <= 1) return 1;
  const double n = gpus;
  return 1 + gpu.spread * boost::math::quantile(boost::math::normal(), (n - 0.375) / (n + 0.25));
}

HostLaunches KernelCost::launch(const Kernel& kernel, const Kernel* before) const {
  const Time each = on_host(software, software.host_per_kernel);
  if (const auto* traffic = std::get_if<TensorCollective>(&kernel)) {
    const Time own = software.host_per_collective ? on_host(software, *software.host_per_collective) : each;
    return {1, traffic->among == Among::tensor ? own + software.host_per_peer * peers : own};
  }
  if (software.compiled && std::holds_alternative<Elementwise>(kernel)) {
    const bool joins = before != nullptr && std::holds_alternative<Elementwise>(*before);
    return joins ? HostLaunches{} : HostLaunches{1, each};
  }
  const auto* gemm = std::get_if<Gemm>(&kernel);
  const Time more = gemm != nullptr && gemm->linear ? on_host(software, software.host_per_linear) : Time{};
  if (const std::int64_t experts = launches_by_expert(kernel); experts > 0 && software.host_per_expert > Time{})
    return {experts, on_host(software, software.host_per_expert) + Time{more.value / experts}};
  return {launches(kernel), each + more};
}

Time KernelCost::time(const Kernel& kernel) const {
  return std::visit([&](const auto& k) { return time_of(*this, k); }, kernel);
}

KernelRating KernelCost::rating(const Kernel& kernel) const {
  return std::visit([&](const auto& k) { return rating_of(*this, k); }, kernel);
}

}  // namespace stepcast::schedules
