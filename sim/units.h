#pragma once

#include <cmath>
#include <compare>
#include <concepts>
#include <cstdint>
#include <stdexcept>

namespace stepcast {

/// A number with its unit in the type: same units add and compare, a bare number only scales.
template <class Unit, class Rep>
struct Quantity {
  Rep value{};

  friend constexpr auto operator<=>(const Quantity&, const Quantity&) = default;
  friend constexpr Quantity operator+(Quantity a, Quantity b) { return {a.value + b.value}; }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return {a.value - b.value}; }
  friend constexpr Quantity operator*(Quantity a, Rep k) { return {a.value * k}; }
  friend constexpr Quantity operator*(Rep k, Quantity a) { return {a.value * k}; }
  constexpr Quantity& operator+=(Quantity b) {
    value += b.value;
    return *this;
  }
  constexpr Quantity& operator-=(Quantity b) {
    value -= b.value;
    return *this;
  }

  /// The ratio of two like quantities; a bare number again.
  friend constexpr double operator/(Quantity a, Quantity b) {
    return static_cast<double>(a.value) / static_cast<double>(b.value);
  }
};

using Time = Quantity<struct Picoseconds, std::int64_t>;  ///< 2^63 ps is 106 days
using Bytes = Quantity<struct ByteCount, std::int64_t>;
using Bandwidth = Quantity<struct BytesPerSecond, double>;
using Flops = Quantity<struct FloatingPointOps, double>;  ///< a fused multiply-add counts as 2
using FlopRate = Quantity<struct FlopsPerSecond, double>;

inline constexpr double kPicosecondsPerSecond = 1e12;

/// Nearest picosecond. Throws std::overflow_error past 106 days or for a number that is none.
inline Time from_seconds(double seconds) {
  const double ps = std::nearbyint(seconds * kPicosecondsPerSecond);
  if (!(std::abs(ps) < 9.2e18)) throw std::overflow_error("a time of more than 106 days");
  return {static_cast<std::int64_t>(ps)};
}

constexpr double to_seconds(Time t) { return static_cast<double>(t.value) / kPicosecondsPerSecond; }

constexpr Time picoseconds(std::int64_t n) { return {n}; }
constexpr Time nanoseconds(std::int64_t n) { return {n * 1'000}; }
constexpr Time microseconds(std::int64_t n) { return {n * 1'000'000}; }
constexpr Time milliseconds(std::int64_t n) { return {n * 1'000'000'000}; }

inline Time operator/(Bytes n, Bandwidth rate) { return from_seconds(static_cast<double>(n.value) / rate.value); }
inline Time operator/(Flops n, FlopRate rate) { return from_seconds(n.value / rate.value); }

}  // namespace stepcast
