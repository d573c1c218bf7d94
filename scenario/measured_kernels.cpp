#include "scenario/measured_kernels.h"

namespace stepcast::schedules {

namespace {

bool takes_cudnn(const Gpu& gpu, const Software& software) {
  return software.cudnn_attention_from && gpu.compute_capability >= *software.cudnn_attention_from;
}

}  // namespace

bool runs_flash_2(const Gpu& gpu, const Software& software) { return software.flash_2 && !takes_cudnn(gpu, software); }

KernelMaker attention_maker(const Gpu& gpu, const Software& software) {
  if (takes_cudnn(gpu, software)) return KernelMaker::cudnn;
  const KernelMaker by = software.attention_by;
  // A newer maker comes from the file that this stack is based on, and flash_2 was laid over it.
  const bool newer = by == KernelMaker::unsaid || by == KernelMaker::cudnn || by == KernelMaker::flash_attention_3;
  return software.flash_2 && newer ? KernelMaker::flash_attention_2 : by;
}

double maker_share(const Gpu& gpu, const Software& software) {
  if (runs_flash_2(gpu, software)) return gpu.attention_flash_2;
  return attention_maker(gpu, software) == KernelMaker::cudnn ? gpu.attention_cudnn : 1;
}

void use_measured_kernels(const KernelsByMaker& measured, Gpu& gpu, Software& software) {
  if (const auto attention = measured.find(attention_maker(gpu, software)); attention != measured.end()) {
    const MeasuredKernels& of = attention->second;
    // The stack divides by its share of the GPU's rates, which a rate of its own kernel has in it already.
    const double share = maker_share(gpu, software);
    gpu.attention_forward = of.attention_forward ? *of.attention_forward / share : gpu.attention_forward;
    gpu.attention_backward = of.attention_backward ? *of.attention_backward / share : gpu.attention_backward;
  }
  if (const auto rest = measured.find(software.elementwise_by); rest != measured.end()) {
    const MeasuredKernels& of = rest->second;
    for (const auto& [kernel, share] : of.elementwise) gpu.elementwise[kernel] = share;
    // A rate that was measured of a composite operator is that of all its kernels.
    if (of.elementwise.contains("rms_norm")) software.composite_operators = false;
    if (of.host_per_kernel) software.host_per_kernel = *of.host_per_kernel;
    if (of.host_per_collective) software.host_per_collective = *of.host_per_collective;
    if (of.host_per_checkpoint) software.host_per_checkpoint = *of.host_per_checkpoint;
  }
}

}  // namespace stepcast::schedules
