// Any bytes as a quantity with its unit. What is read can be printed, and sizes and times are never negative.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "sim/units_text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stepcast;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const auto time = parse_time(input);
  const auto bytes = parse_bytes(input);
  const auto bandwidth = parse_bandwidth(input);
  const auto rate = parse_flop_rate(input);
  const auto power = parse_power(input);
  const auto duration = parse_duration(input);
  if (time && (time->value < 0 || text(*time).empty())) std::abort();
  if (bytes && (bytes->value < 0 || text(*bytes).empty())) std::abort();
  if (bandwidth && (!std::isfinite(bandwidth->value) || bandwidth->value < 0 || text(*bandwidth).empty())) std::abort();
  if (rate && (!std::isfinite(rate->value) || rate->value < 0 || text(*rate).empty())) std::abort();
  if (power && (!std::isfinite(power->value) || power->value < 0 || text(*power).empty())) std::abort();
  if (duration && (!std::isfinite(duration->value) || duration->value < 0 || text(*duration).empty())) std::abort();
  return 0;
}
