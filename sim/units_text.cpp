#include "sim/units_text.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <span>
#include <system_error>

namespace stepcast {
namespace {

struct NamedUnit {
  std::string_view name;
  double size;  // in the quantity's own unit
};

constexpr double kKi = 1024.0, kMi = kKi * kKi, kGi = kMi * kKi, kTi = kGi * kKi;

constexpr std::array kTime{NamedUnit{"ps", 1},   NamedUnit{"ns", 1e3},    NamedUnit{"us", 1e6},   NamedUnit{"ms", 1e9},
                           NamedUnit{"s", 1e12}, NamedUnit{"min", 60e12}, NamedUnit{"h", 3600e12}};
constexpr std::array kBytes{NamedUnit{"B", 1},     NamedUnit{"kB", 1e3},  NamedUnit{"MB", 1e6},
                            NamedUnit{"GB", 1e9},  NamedUnit{"TB", 1e12}, NamedUnit{"KiB", kKi},
                            NamedUnit{"MiB", kMi}, NamedUnit{"GiB", kGi}, NamedUnit{"TiB", kTi}};
constexpr std::array kBandwidth{
    NamedUnit{"B/s", 1},          NamedUnit{"kB/s", 1e3},       NamedUnit{"MB/s", 1e6},
    NamedUnit{"GB/s", 1e9},       NamedUnit{"TB/s", 1e12},      NamedUnit{"KiB/s", kKi},
    NamedUnit{"MiB/s", kMi},      NamedUnit{"GiB/s", kGi},      NamedUnit{"TiB/s", kTi},
    NamedUnit{"bit/s", 1 / 8.0},  NamedUnit{"kbit/s", 1e3 / 8}, NamedUnit{"Mbit/s", 1e6 / 8},
    NamedUnit{"Gbit/s", 1e9 / 8}, NamedUnit{"Tbit/s", 1e12 / 8}};
constexpr std::array kFlopRate{NamedUnit{"FLOP/s", 1},    NamedUnit{"kFLOP/s", 1e3},  NamedUnit{"MFLOP/s", 1e6},
                               NamedUnit{"GFLOP/s", 1e9}, NamedUnit{"TFLOP/s", 1e12}, NamedUnit{"PFLOP/s", 1e15},
                               NamedUnit{"EFLOP/s", 1e18}};
constexpr std::array kPower{NamedUnit{"W", 1}, NamedUnit{"kW", 1e3}, NamedUnit{"MW", 1e6}};
constexpr std::array kDuration{NamedUnit{"s", 1}, NamedUnit{"min", 60}, NamedUnit{"h", 3600}, NamedUnit{"days", 86400}};

struct Parsed {
  double number;
  std::optional<std::int64_t> whole;  // the number, where it is written without fraction and exponent
  double unit;
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::optional<Parsed> parse(std::string_view text, std::span<const NamedUnit> units) {
  if (text.empty() || !is_digit(text.front())) return std::nullopt;  // no sign, inf, nan
  const char* const end = text.data() + text.size();
  double number = 0;
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{}) return std::nullopt;

  Parsed parsed{number, std::nullopt, 0};
  std::int64_t whole = 0;
  if (const auto [stop, wrong] = std::from_chars(text.data(), rest, whole); wrong == std::errc{} && stop == rest) {
    parsed.whole = whole;
  }
  std::string_view name(rest, static_cast<std::size_t>(end - rest));
  if (name.starts_with(' ')) name.remove_prefix(1);
  for (const NamedUnit& unit : units) {
    if (unit.name == name) {
      parsed.unit = unit.size;
      return parsed;
    }
  }
  return std::nullopt;
}

/// For quantities counted in whole units of which `parsed.unit` is a whole number.
std::optional<std::int64_t> count(const Parsed& parsed) {
  if (parsed.whole) {  // exact past 2^53
    std::int64_t product = 0;
    if (__builtin_mul_overflow(*parsed.whole, static_cast<std::int64_t>(parsed.unit), &product)) return std::nullopt;
    return product;
  }
  const double value = parsed.number * parsed.unit;
  if (!(value < 9.2e18)) return std::nullopt;
  const double nearest = std::nearbyint(value);
  if (parsed.unit == 1 && nearest != value) return std::nullopt;
  return static_cast<std::int64_t>(nearest);
}

std::optional<double> rate(const std::optional<Parsed>& parsed) {
  if (!parsed) return std::nullopt;
  const double value = parsed->number * parsed->unit;
  if (!std::isfinite(value)) return std::nullopt;
  return value;
}

template <std::size_t n>
std::string list(const std::array<NamedUnit, n>& units) {
  std::string text;
  for (const NamedUnit& unit : units) {
    if (!text.empty()) text += ", ";
    text += unit.name;
  }
  return text;
}

/// Three significant digits of a number from about 1 on.
std::string three_digits(double number) {
  const int decimals = number < 9.995 ? 2 : number < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f}", number, decimals);
}

/// `steps`, smallest first: a number that would print as `next` of its unit or more goes to the next one.
struct UnitStep {
  std::string_view name;
  double size;
  double next;
};

std::string in_steps(double value, std::span<const UnitStep> steps) {
  std::size_t s = 0;
  while (s + 1 < steps.size() && std::abs(value) >= (steps[s].next - 0.5) * steps[s].size) ++s;
  const double number = std::abs(value) / steps[s].size;
  const std::string sign = value < 0 ? "-" : "";
  return fmt::format("{}{} {}", sign, number < 0.9 ? fmt::format("{:.3g}", number) : three_digits(number),
                     steps[s].name);
}

}  // namespace

std::optional<Time> parse_time(std::string_view text) {
  const auto parsed = parse(text, kTime);
  const auto ps = parsed ? count(*parsed) : std::nullopt;
  return ps ? std::optional(Time{*ps}) : std::nullopt;
}

std::optional<Bytes> parse_bytes(std::string_view text) {
  const auto parsed = parse(text, kBytes);
  const auto n = parsed ? count(*parsed) : std::nullopt;
  return n ? std::optional(Bytes{*n}) : std::nullopt;
}

std::optional<Bandwidth> parse_bandwidth(std::string_view text) {
  const auto value = rate(parse(text, kBandwidth));
  return value ? std::optional(Bandwidth{*value}) : std::nullopt;
}

std::optional<FlopRate> parse_flop_rate(std::string_view text) {
  const auto value = rate(parse(text, kFlopRate));
  return value ? std::optional(FlopRate{*value}) : std::nullopt;
}

std::optional<Power> parse_power(std::string_view text) {
  const auto value = rate(parse(text, kPower));
  return value ? std::optional(Power{*value}) : std::nullopt;
}

std::optional<Duration> parse_duration(std::string_view text) {
  const auto value = rate(parse(text, kDuration));
  return value ? std::optional(Duration{*value}) : std::nullopt;
}

std::string_view time_units() {
  static const std::string names = list(kTime);
  return names;
}

std::string_view bytes_units() {
  static const std::string names = list(kBytes);
  return names;
}

std::string_view bandwidth_units() {
  static const std::string names = list(kBandwidth);
  return names;
}

std::string_view flop_rate_units() {
  static const std::string names = list(kFlopRate);
  return names;
}

std::string_view power_units() {
  static const std::string names = list(kPower);
  return names;
}

std::string_view duration_units() {
  static const std::string names = list(kDuration);
  return names;
}

std::string text(Time time) {
  static constexpr std::array kSteps{UnitStep{"ns", 1e3, 1000}, UnitStep{"us", 1e6, 1000},   UnitStep{"ms", 1e9, 1000},
                                     UnitStep{"s", 1e12, 120},  UnitStep{"min", 60e12, 120}, UnitStep{"h", 3600e12, 0}};
  if (time > Time{-1000} && time < Time{1000}) return fmt::format("{} ps", time.value);
  return in_steps(static_cast<double>(time.value), kSteps);
}

std::string text(Bytes bytes) {
  static constexpr std::array kSteps{UnitStep{"KiB", kKi, 1024}, UnitStep{"MiB", kMi, 1024}, UnitStep{"GiB", kGi, 1024},
                                     UnitStep{"TiB", kTi, 0}};
  if (bytes > Bytes{-1024} && bytes < Bytes{1024}) return fmt::format("{} B", bytes.value);
  return in_steps(static_cast<double>(bytes.value), kSteps);
}

std::string text(Bandwidth bandwidth) {
  static constexpr std::array kSteps{UnitStep{"B/s", 1, 1000}, UnitStep{"kB/s", 1e3, 1000}, UnitStep{"MB/s", 1e6, 1000},
                                     UnitStep{"GB/s", 1e9, 1000}, UnitStep{"TB/s", 1e12, 0}};
  return in_steps(bandwidth.value, kSteps);
}

std::string text(FlopRate flops) {
  static constexpr std::array kSteps{UnitStep{"FLOP/s", 1, 1000},     UnitStep{"kFLOP/s", 1e3, 1000},
                                     UnitStep{"MFLOP/s", 1e6, 1000},  UnitStep{"GFLOP/s", 1e9, 1000},
                                     UnitStep{"TFLOP/s", 1e12, 1000}, UnitStep{"PFLOP/s", 1e15, 1000},
                                     UnitStep{"EFLOP/s", 1e18, 0}};
  return in_steps(flops.value, kSteps);
}

std::string text(Power power) {
  static constexpr std::array kSteps{UnitStep{"W", 1, 1000}, UnitStep{"kW", 1e3, 1000}, UnitStep{"MW", 1e6, 0}};
  return in_steps(power.value, kSteps);
}

std::string text(Energy energy) {
  constexpr double kWattHour = 3600;
  static constexpr std::array kSteps{UnitStep{"Wh", kWattHour, 1000}, UnitStep{"kWh", kWattHour * 1e3, 1000},
                                     UnitStep{"MWh", kWattHour * 1e6, 1000}, UnitStep{"GWh", kWattHour * 1e9, 0}};
  return in_steps(energy.value, kSteps);
}

std::string text(Duration duration) {
  static constexpr std::array kSteps{UnitStep{"ms", 1e-3, 1000}, UnitStep{"s", 1, 120}, UnitStep{"min", 60, 120},
                                     UnitStep{"h", 3600, 48}, UnitStep{"days", 86400, 0}};
  return in_steps(duration.value, kSteps);
}

}  // namespace stepcast
