#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace stepcast::measure {

/// Of the repeats of one measurement, in seconds.
struct SampleSpread {
  std::int64_t repeats = 0;
  double median = 0, p10 = 0, p90 = 0;
};

/// Median and 10th and 90th percentile, linear between neighbours (Hyndman and Fan 1996, type 7).
/// Requires at least one sample, each above 0.
SampleSpread spread_of(std::vector<double> samples);

/// Whether the later half of the samples is more than a tenth slower than the earlier half, by their medians: clocks
/// fell while it ran. Needs 8 samples to say so.
bool drifts(const std::vector<double>& samples);

/// What NVML calls reasons for clocks below the maximum that are a fault of the machine's cooling or power supply:
/// hardware slowdown, thermal slowdown by software and hardware, power brake. Not the power cap: large multiplies
/// always meet it, in training too. Source: nvml.h, nvmlClocksEventReason* (0x08, 0x20, 0x40, 0x80).
bool throttled(std::uint64_t clocks_event_reasons);

/// The same in words, "" for none; the power cap is named too.
std::string throttle_words(std::uint64_t clocks_event_reasons);

}  // namespace stepcast::measure
