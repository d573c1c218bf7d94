#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "calibrate/logs/kernel_table.h"

namespace stepcast::calibrate {

inline constexpr std::int64_t kNoLaunch = -1;

/// A kernel, copy or fill as Nsight Systems exports it, its times in nanoseconds since the beginning of the recording.
struct GpuActivity {
  std::uint32_t name = 0;  ///< of the log's names
  KernelClass kind{};
  std::int64_t start = 0, end = 0, device = 0;
  std::int64_t stream = 0;
  std::int64_t launch = kNoLaunch;  ///< the key of the host's call for it
};

/// CUpti_ActivityMemcpyKind in words: "memcpy host to device".
std::string copy_name(std::int64_t kind);

/// Adds what a GPU did to a log whose names it has; times count from the earliest from then on. `launches`: when the
/// host called, by key. Throws InputError for times out of order or more than 46 days apart, and for a device beyond
/// 2^20.
void add_activities(const std::vector<GpuActivity>& all, const std::unordered_map<std::int64_t, std::int64_t>& launches,
                    const std::string& file, KernelLog& log);

}  // namespace stepcast::calibrate
