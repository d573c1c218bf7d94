#pragma once

#include <map>
#include <optional>
#include <string>

#include "scenario/gpu.h"
#include "scenario/kernel_maker.h"
#include "scenario/software.h"
#include "sim/units.h"

namespace stepcast::schedules {

/// What a calibration measured of one maker's kernels; nothing where it measured none.
struct MeasuredKernels {
  std::optional<double> attention_forward, attention_backward;                    ///< as Gpu has them
  std::map<std::string, double, std::less<>> elementwise;                         ///< likewise
  std::optional<Time> host_per_kernel, host_per_collective, host_per_checkpoint;  ///< as Software has them
};

using KernelsByMaker = std::map<KernelMaker, MeasuredKernels>;

/// Whether a stack runs FlashAttention-2's fused attention, or an older one, on a GPU.
bool runs_flash_2(const Gpu& gpu, const Software& software);

/// Whose fused attention it runs there: as it says, or FlashAttention-2's where it says flash_2 and no maker of that
/// generation.
KernelMaker attention_maker(const Gpu& gpu, const Software& software);

/// Share of the GPU's rates of fused attention that this maker's kernels reach, where nothing was measured of them.
double maker_share(const Gpu& gpu, const Software& software);

/// Gives a GPU and a stack the rates of the kernels that this stack runs. What is measured of other makers' kernels
/// changes nothing.
void use_measured_kernels(const KernelsByMaker& measured, Gpu& gpu, Software& software);

}  // namespace stepcast::schedules
