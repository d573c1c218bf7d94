#include "calibrate/measure/host/sustained_rounds.h"

#include <stdexcept>

namespace stepcast::measure {
namespace {

double mean(const std::vector<SustainedWindow>& windows, double from, double SustainedWindow::*value) {
  double sum = 0;
  int count = 0;
  for (const SustainedWindow& window : windows) {
    if (window.at_s < from || window.*value < 0) continue;
    sum += window.*value;
    ++count;
  }
  return count == 0 ? -1 : sum / count;
}

}  // namespace

SustainedRounds sum_up(const std::vector<SustainedWindow>& windows) {
  constexpr double kBurst = 0.25, kLastThird = 2.0 / 3;
  constexpr std::uint64_t kPowerCap = 0x4;  // nvml.h: nvmlClocksEventReasonSwPowerCap
  if (windows.empty()) throw std::logic_error("sustained work without a window");
  const double from = windows.back().at_s * kLastThird;
  std::vector<double> first, last;
  int capped = 0;
  SustainedRounds rounds;
  for (const SustainedWindow& window : windows) {
    if (window.at_s <= kBurst || first.empty()) first.push_back(window.round_s);
    rounds.throttled = rounds.throttled || throttled(window.reasons);
    if (window.at_s < from) continue;
    last.push_back(window.round_s);
    capped += (window.reasons & kPowerCap) != 0;
  }
  rounds.burst_s = spread_of(first).median;
  rounds.held = spread_of(last);
  rounds.clock_mhz = mean(windows, from, &SustainedWindow::clock_mhz);
  rounds.power_w = mean(windows, from, &SustainedWindow::power_w);
  rounds.temperature_c = mean(windows, from, &SustainedWindow::temperature_c);
  rounds.capped = static_cast<double>(capped) / static_cast<double>(last.size());
  return rounds;
}

}  // namespace stepcast::measure
