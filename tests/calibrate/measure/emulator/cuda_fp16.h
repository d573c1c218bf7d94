#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

/// IEEE half precision, rounded to nearest even.
struct __half {
  std::uint16_t bits;
};
inline float __half2float(__half value) {
  const int exponent = value.bits >> 10 & 31, fraction = value.bits & 1023;
  const float sign = (value.bits & 0x8000) != 0 ? -1.0f : 1.0f;
  if (exponent == 31) return fraction != 0 ? std::nanf("") : sign * INFINITY;
  if (exponent == 0) return sign * std::ldexp(static_cast<float>(fraction), -24);
  return sign * std::ldexp(static_cast<float>(fraction + 1024), exponent - 25);
}
inline __half __float2half(float value) {
  const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const float size = std::fabs(value);
  if (std::isnan(size)) return {0x7fff};
  if (size == 0) return {sign};
  if (size >= 65520.0f) return {static_cast<std::uint16_t>(sign | 0x7c00)};
  int exponent = 0;
  std::frexp(size, &exponent);                    // size in [2^(exponent-1), 2^exponent)
  const int step = std::max(exponent, -13) - 11;  // of the last bit
  const auto units = static_cast<std::uint32_t>(std::nearbyint(std::ldexp(size, -step)));
  // units is 1024..2048 for normal numbers; the carry of 2048 moves into the exponent by itself.
  const std::uint32_t bits = step == -24 ? units : static_cast<std::uint32_t>(step + 24) * 1024 + units;
  return {static_cast<std::uint16_t>(sign | bits)};
}
