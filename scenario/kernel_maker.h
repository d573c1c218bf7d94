#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace stepcast::schedules {

/// Whose code a kernel is. Kernels of one name by different makers differ in their rates by factors, so a profile's
/// rates of attention and elementwise kernels count for the stacks that run that maker's kernels alone.
enum class KernelMaker : std::uint8_t {
  unsaid,
  own,  ///< written for the measuring program, calibrate/measure/kernels
  cudnn,
  flash_attention_2,  ///< the package, and what PyTorch's FLASH_ATTENTION is
  flash_attention_3,
  memory_efficient,  ///< PyTorch's EFFICIENT_ATTENTION, of xFormers and CUTLASS
  pytorch,           ///< eager operators
  inductor,          ///< what torch.compile makes of them
  transformer_engine,
  other  ///< none of these: nothing measured here is it
};

/// Names of KernelMaker in its order, as tables and profiles write them.
inline constexpr std::array<std::string_view, 10> kKernelMakers{
    "unsaid",           "own",     "cudnn",    "flash_attention_2",  "flash_attention_3",
    "memory_efficient", "pytorch", "inductor", "transformer_engine", "other"};

}  // namespace stepcast::schedules
