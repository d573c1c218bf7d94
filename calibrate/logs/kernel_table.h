#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/units.h"

namespace stepcast::calibrate {

enum class KernelClass : std::uint8_t { gemm, attention, elementwise, collective, copy };

std::string_view name(KernelClass kind);  ///< "gemm"

/// What a GPU kernel does, by its name: what libraries and compilers call theirs (NCCL's begin with nccl, cuBLAS' hold
/// gemm or begin with nvjet, FlashAttention's hold flash or fmha ...). Convolutions count as gemm; what no pattern
/// knows is elementwise.
KernelClass class_of(std::string_view kernel);

/// One run of a kernel or a copy on one device, as a profiler saw it.
struct KernelSpan {
  std::string name;
  KernelClass kind = KernelClass::elementwise;
  std::uint32_t device = 0;
  Time start{}, duration{};
};

/// All runs of the kernels of one name.
struct KernelTotal {
  std::string name;
  KernelClass kind = KernelClass::elementwise;
  std::uint64_t count = 0;
  Time total{}, median{};
};

/// How a device spent its time; runs at the same time on several streams count once.
struct DeviceTime {
  std::uint32_t device = 0;
  Time span{};        ///< first start to last end
  Time compute{};     ///< gemm, attention or elementwise runs
  Time collective{};  ///< a collective runs
  Time hidden{};      ///< a collective runs, and compute beside it
  Time copy{};
};

struct KernelTable {
  std::vector<KernelTotal> kernels;  ///< largest total first
  std::vector<DeviceTime> devices;   ///< by device
};

/// Requires times of at most 50 days. Throws InputError where they add up to more than 104. O(n log n).
KernelTable kernel_table(std::vector<KernelSpan> spans);

}  // namespace stepcast::calibrate
