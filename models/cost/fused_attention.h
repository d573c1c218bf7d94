#pragma once

#include <cstdint>

#include "models/layers/kernels.h"
#include "scenario/gpu.h"
#include "scenario/software.h"

namespace stepcast::schedules {

/// Generations of fused-attention kernels, which round head widths up differently.
enum class AttentionKernels : std::uint8_t {
  unpadded,           ///< of GPUs that are not NVIDIA's: nothing is known, so nothing is rounded
  flash_attention_2,  ///< of software.flash_2, and of every NVIDIA GPU before Hopper
  newer               ///< FlashAttention-3 and cuDNN
};
AttentionKernels attention_kernels(const Gpu& gpu, const Software& software);

/// Width that a kernel multiplies for heads of `width`: the next for which it was compiled. FlashAttention-2: 32, 64,
/// 96, 128, 160, 192, 256 (flash-attention, csrc/flash_attn/src/static_switch.h, HEADDIM_SWITCH). FlashAttention-3: 64,
/// 96, 128, 192, 256 (hopper/setup.py, from memory), assumed of cuDNN too. Past 256 there is no kernel: the next
/// multiple of
/// 64. Requires width > 0.
std::int64_t padded_width(std::int64_t width, AttentionKernels kernels);

/// Multiplies done over those counted, because widths are rounded up. FlashAttention-2 takes keys and values of one
/// width and its callers pad values to keys; newer kernels do not, forward (docs/model.md).
double padding(const FusedAttention& kernel, AttentionKernels kernels);

/// Time of the kernel alone, launch not included, at the GPU's rates of fused attention.
Time fused_attention_time(const FusedAttention& kernel, const Gpu& gpu, const Software& software, Precision precision);

}  // namespace stepcast::schedules
