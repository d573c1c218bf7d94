#include "calibrate/logs/gpu_activity.h"

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "sim/in_quotes.h"
#include "sim/input_error.h"

namespace stepcast::calibrate {
namespace {

constexpr std::int64_t kLongestNanoseconds = std::int64_t{4'000'000} * 1'000'000'000;  // 46 days

}  // namespace

std::string copy_name(std::int64_t kind) {
  switch (kind) {
    case 1:
      return "memcpy host to device";
    case 2:
      return "memcpy device to host";
    case 8:
      return "memcpy device to device";
    case 10:
      return "memcpy peer to peer";
    default:
      return "memcpy";
  }
}

void add_activities(const std::vector<GpuActivity>& all, const std::unordered_map<std::int64_t, std::int64_t>& launches,
                    const std::string& file, KernelLog& log) {
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  for (const GpuActivity& row : all) {
    if (row.start < 0 || row.end < row.start || row.end - row.start > kLongestNanoseconds || row.device < 0 ||
        row.device > 1 << 20) {
      throw InputError(file, in_quotes(log.names[row.name]) + ": found start " + std::to_string(row.start) + ", end " +
                                 std::to_string(row.end) + ", device " + std::to_string(row.device) +
                                 ", expected nanoseconds in order and a device");
    }
    first = std::min(first, row.start);
  }
  for (const GpuActivity& row : all) {
    if (row.start - first > kLongestNanoseconds)
      throw InputError(file, in_quotes(log.names[row.name]) + ": more than 46 days after the first");
    KernelSpan& span = log.spans.emplace_back();
    span.name = row.name;
    span.kind = row.kind;
    span.device = static_cast<std::uint32_t>(row.device);
    span.start = nanoseconds(row.start - first);
    span.duration = nanoseconds(row.end - row.start);
    span.stream = static_cast<std::uint32_t>(std::clamp<std::int64_t>(row.stream, 0, 1 << 20));
    if (row.kind == KernelClass::collective) span.operation = operation_of(log.names[row.name]);
    const auto launch = launches.find(row.launch);
    if (launch != launches.end() && launch->second >= 0 && std::abs(launch->second - first) <= kLongestNanoseconds)
      span.launched = nanoseconds(launch->second - first);
  }
}

}  // namespace stepcast::calibrate
