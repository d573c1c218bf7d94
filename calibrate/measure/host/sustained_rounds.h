#pragma once

#include <cstdint>
#include <vector>

#include "calibrate/measure/host/statistics.h"

namespace stepcast::measure {

/// One window of work that runs without a pause: when it ended, what a round took in it, and what NVML said then.
struct SustainedWindow {
  double at_s = 0, round_s = 0;
  double clock_mhz = -1, power_w = -1, temperature_c = -1;
  std::uint64_t reasons = 0;  ///< as statistics.h
};

/// What a long run comes to.
struct SustainedRounds {
  double burst_s = 0;  ///< median round of the first quarter of a second after a rest
  SampleSpread held;   ///< rounds of the last third of the time
  double clock_mhz = -1, power_w = -1, temperature_c = -1;  ///< means of that third; negative: not told
  double capped = 0;       ///< share of its windows in which the power limit held the clocks
  bool throttled = false;  ///< cooling or power supply did, in any window
};

/// Requires windows in the order of time, at least one.
SustainedRounds sum_up(const std::vector<SustainedWindow>& windows);

}  // namespace stepcast::measure
