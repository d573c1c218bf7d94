#include "calibrate/measure/host/statistics.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace stepcast::measure {
namespace {

constexpr std::uint64_t kPowerCap = 0x4, kHardwareSlowdown = 0x8, kSoftwareThermal = 0x20, kHardwareThermal = 0x40,
                        kPowerBrake = 0x80;

double quantile(const std::vector<double>& sorted, double share) {
  const double at = share * static_cast<double>(sorted.size() - 1);
  const std::size_t below = static_cast<std::size_t>(std::floor(at));
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

}  // namespace

SampleSpread spread_of(std::vector<double> samples) {
  if (samples.empty()) throw std::logic_error("spread of no samples");
  std::sort(samples.begin(), samples.end());
  return {static_cast<std::int64_t>(samples.size()), quantile(samples, 0.5), quantile(samples, 0.1),
          quantile(samples, 0.9)};
}

bool drifts(const std::vector<double>& samples) {
  if (samples.size() < 8) return false;
  const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
  return spread_of({middle, samples.end()}).median > 1.1 * spread_of({samples.begin(), middle}).median;
}

bool throttled(std::uint64_t reasons) {
  return (reasons & (kHardwareSlowdown | kSoftwareThermal | kHardwareThermal | kPowerBrake)) != 0;
}

std::string throttle_words(std::uint64_t reasons) {
  std::string words;
  const auto add = [&](std::uint64_t bit, const char* word) {
    if ((reasons & bit) != 0) words += (words.empty() ? "" : ", ") + std::string(word);
  };
  add(kPowerCap, "power cap");
  add(kHardwareSlowdown, "hardware slowdown");
  add(kSoftwareThermal, "thermal slowdown by software");
  add(kHardwareThermal, "thermal slowdown by hardware");
  add(kPowerBrake, "power brake");
  return words;
}

}  // namespace stepcast::measure
