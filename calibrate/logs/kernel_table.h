#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "collectives/operation.h"
#include "sim/units.h"

namespace stepcast::calibrate {

enum class KernelClass : std::uint8_t { gemm, attention, elementwise, collective, copy };

std::string_view name(KernelClass kind);  ///< "gemm"

/// What a GPU kernel does, by its name: what libraries and compilers call theirs (NCCL's begin with nccl, cuBLAS' hold
/// gemm or begin with nvjet, FlashAttention's hold flash or fmha ...). Convolutions count as gemm; what no pattern
/// knows is elementwise.
KernelClass class_of(std::string_view kernel);

/// Names by number, each kept once: a kernel of a name of kilobytes runs thousands of times.
class KernelNames {
 public:
  /// In the order first asked for. O(1) on average.
  std::uint32_t number_of(const std::string& name);
  const std::string& operator[](std::uint32_t number) const { return *names_[number]; }

 private:
  std::unordered_map<std::string, std::uint32_t> numbers_;
  std::vector<const std::string*> names_;  ///< keys of `numbers_`, which stay where they are
};

/// One run of a kernel or a copy on one device, as a profiler saw it.
struct KernelSpan {
  std::uint32_t name = 0;  ///< of the log's names
  KernelClass kind = KernelClass::elementwise;
  std::uint32_t device = 0;
  Time start{}, duration{};
  std::uint32_t stream = 0;
  std::optional<Time> launched{};                     ///< when the host called for it; none: the log does not say
  std::optional<collectives::Operation> operation{};  ///< of a collective, where the log or its name says
  std::uint32_t ranks = 0;                            ///< of a collective; 0: the log does not say
};

/// A stretch of the host's time that the program named: one step of training, or the optimizer's part of one.
struct HostMark {
  enum class Kind : std::uint8_t { step, optimizer };
  Kind kind{};
  std::string name;  ///< "ProfilerStep#3"
  Time start{}, duration{};
};

/// What a profiler saw.
struct KernelLog {
  KernelNames names;
  std::vector<KernelSpan> spans;
  std::vector<HostMark> marks{};
};

/// What a collective does, by its kernel's name ("ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL") or by what PyTorch
/// calls it ("_allgather_base"). Nothing: nobody knows.
std::optional<collectives::Operation> operation_of(std::string_view name);

/// Throws InputError where the kernels' times add up to more than 104 days.
void check_total(const KernelLog& log);

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
KernelTable kernel_table(const KernelLog& log);

}  // namespace stepcast::calibrate
