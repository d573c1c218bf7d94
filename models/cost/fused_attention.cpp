#include "models/cost/fused_attention.h"

#include <algorithm>
#include <array>
#include <span>

#include "scenario/measured_kernels.h"
#include "sim/long_time.h"

namespace stepcast::schedules {
namespace {

constexpr double kBackwardTile = 128;   // keys that one block of the backward kernel owns (FlashAttention-2)
constexpr double kUnevenEnd = 1.0 / 3;  // of the longest block; both operator tables have it (docs/model.md)
constexpr std::uint32_t kHopper = 90;   // compute capability
// Head widths that kernels were compiled for.
constexpr std::array<std::int64_t, 7> kFlash2Widths{32, 64, 96, 128, 160, 192, 256};
constexpr std::array<std::int64_t, 5> kFlash3Widths{64, 96, 128, 192, 256};
constexpr std::int64_t kStepPastThem = 64;

/// Multiplies until the last block is done, in those of all SMs together.
double forward_flops(const FusedAttention& kernel, const Gpu& gpu) {
  const double all = kernel.flops.value * kernel.seen();
  if (!kernel.causal || kernel.query_rows == 0) return all;
  // The last row of tiles has no half to skip: one SM still works on it when the others are done.
  return all +
         kernel.flops.value * kernel.window * static_cast<double>(gpu.attention_tile) / kernel.query_rows * gpu.sms;
}

double backward_flops(const FusedAttention& kernel, const Gpu& gpu) {
  const double all = kernel.flops.value * kernel.seen();
  if (!kernel.causal || kernel.query_rows == 0) return all;
  // A block owns keys, and the first keys are seen by all queries of a window.
  const double longest = kernel.flops.value * kernel.window * kBackwardTile / kernel.query_rows * gpu.sms;
  return std::max(all + kUnevenEnd * longest, longest);
}

}  // namespace

AttentionKernels attention_kernels(const Gpu& gpu, const Software& software) {
  if (runs_flash_2(gpu, software)) return AttentionKernels::flash_attention_2;
  if (gpu.compute_capability == 0) return AttentionKernels::unpadded;
  return gpu.compute_capability < kHopper ? AttentionKernels::flash_attention_2 : AttentionKernels::newer;
}

std::int64_t padded_width(std::int64_t width, AttentionKernels kernels) {
  if (kernels == AttentionKernels::unpadded) return width;
  const std::span<const std::int64_t> compiled =
      kernels == AttentionKernels::flash_attention_2 ? std::span<const std::int64_t>(kFlash2Widths) : kFlash3Widths;
  const auto fits = std::ranges::lower_bound(compiled, width);
  return fits == compiled.end() ? (width + kStepPastThem - 1) / kStepPastThem * kStepPastThem : *fits;
}

double padding(const FusedAttention& kernel, AttentionKernels kernels) {
  if (kernel.key_width == 0 || kernels == AttentionKernels::unpadded) return 1;
  const std::int64_t keys = padded_width(kernel.key_width, kernels), values = padded_width(kernel.value_width, kernels),
                     widest = std::max(keys, values);
  const bool one_width = kernel.backward || kernels == AttentionKernels::flash_attention_2;
  return static_cast<double>(one_width ? 2 * widest : keys + values) /
         static_cast<double>(kernel.key_width + kernel.value_width);
}

Time fused_attention_time(const FusedAttention& kernel, const Gpu& gpu, const Software& software, Precision precision) {
  const double share = (kernel.backward ? gpu.attention_backward : gpu.attention_forward) * maker_share(gpu, software) *
                       software.attention_efficiency;
  const FlopRate rate = kernel.low_precision ? peak(gpu, precision) * gpu.attention_fp8_share
                                             : peak(gpu, beside_low_precision(precision));
  const double flops = kernel.backward ? backward_flops(kernel, gpu) : forward_flops(kernel, gpu);
  return from_seconds(flops * padding(kernel, attention_kernels(gpu, software)) / (rate * share).value,
                      "one attention kernel takes more than 106 days at cluster.node.gpu.peak");
}

}  // namespace stepcast::schedules
