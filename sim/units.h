#pragma once

#include <cmath>
#include <compare>
#include <concepts>
#include <cstdint>
#include <stdexcept>

namespace stepcast {

struct Picoseconds {
  static constexpr const char* kTooLarge = "a time of more than 106 days";
};
struct ByteCount {
  static constexpr const char* kTooLarge = "a size of more than 8 EiB";
};

/// A number with its unit in the type: same units add and compare, a bare number only scales. Whole numbers that leave
/// the range of their type throw std::overflow_error, which names the quantity.
template <class Unit, class Rep>
struct Quantity {
  Rep value{};

  friend constexpr auto operator<=>(const Quantity&, const Quantity&) = default;
  friend constexpr Quantity operator+(Quantity a, Quantity b) { return {checked<Sum>(a.value, b.value)}; }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return {checked<Difference>(a.value, b.value)}; }
  friend constexpr Quantity operator*(Quantity a, Rep k) { return {checked<Product>(a.value, k)}; }
  friend constexpr Quantity operator*(Rep k, Quantity a) { return a * k; }
  constexpr Quantity& operator+=(Quantity b) { return *this = *this + b; }
  constexpr Quantity& operator-=(Quantity b) { return *this = *this - b; }

  /// The ratio of two like quantities; a bare number again.
  friend constexpr double operator/(Quantity a, Quantity b) {
    return static_cast<double>(a.value) / static_cast<double>(b.value);
  }

 private:
  struct Sum {
    static constexpr bool overflows(Rep a, Rep b, Rep* out) { return __builtin_add_overflow(a, b, out); }
    static constexpr Rep of(Rep a, Rep b) { return a + b; }
  };
  struct Difference {
    static constexpr bool overflows(Rep a, Rep b, Rep* out) { return __builtin_sub_overflow(a, b, out); }
    static constexpr Rep of(Rep a, Rep b) { return a - b; }
  };
  struct Product {
    static constexpr bool overflows(Rep a, Rep b, Rep* out) { return __builtin_mul_overflow(a, b, out); }
    static constexpr Rep of(Rep a, Rep b) { return a * b; }
  };
  template <class Operation>
  static constexpr Rep checked(Rep a, Rep b) {
    if constexpr (std::integral<Rep>) {
      Rep out{};
      if (Operation::overflows(a, b, &out)) throw std::overflow_error(Unit::kTooLarge);
      return out;
    } else {
      return Operation::of(a, b);
    }
  }
};

using Time = Quantity<Picoseconds, std::int64_t>;  ///< 2^63 ps is 106 days
using Bytes = Quantity<ByteCount, std::int64_t>;
using Bandwidth = Quantity<struct BytesPerSecond, double>;
using Flops = Quantity<struct FloatingPointOps, double>;  ///< a fused multiply-add counts as 2
using FlopRate = Quantity<struct FlopsPerSecond, double>;

inline constexpr double kPicosecondsPerSecond = 1e12;

/// Nearest picosecond. Throws std::overflow_error past 106 days or for a number that is none.
inline Time from_seconds(double seconds) {
  const double ps = std::nearbyint(seconds * kPicosecondsPerSecond);
  if (!(std::abs(ps) < 9.2e18)) throw std::overflow_error(Picoseconds::kTooLarge);
  return {static_cast<std::int64_t>(ps)};
}

constexpr double to_seconds(Time t) { return static_cast<double>(t.value) / kPicosecondsPerSecond; }

constexpr Time picoseconds(std::int64_t n) { return {n}; }
constexpr Time nanoseconds(std::int64_t n) { return picoseconds(n) * 1'000; }
constexpr Time microseconds(std::int64_t n) { return picoseconds(n) * 1'000'000; }
constexpr Time milliseconds(std::int64_t n) { return picoseconds(n) * 1'000'000'000; }

inline Time operator/(Bytes n, Bandwidth rate) { return from_seconds(static_cast<double>(n.value) / rate.value); }
inline Time operator/(Flops n, FlopRate rate) { return from_seconds(n.value / rate.value); }

}  // namespace stepcast
