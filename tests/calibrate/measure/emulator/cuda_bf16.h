#pragma once

#include <cstdint>
#include <cstring>

/// bfloat16: the upper half of a float, rounded to nearest even. Not a number stays one.
struct __nv_bfloat16 {
  std::uint16_t bits;
};
inline float __bfloat162float(__nv_bfloat16 value) {
  const std::uint32_t wide = static_cast<std::uint32_t>(value.bits) << 16;
  float result;
  std::memcpy(&result, &wide, sizeof(result));
  return result;
}
inline __nv_bfloat16 __float2bfloat16(float value) {
  std::uint32_t wide;
  std::memcpy(&wide, &value, sizeof(wide));
  if ((wide & 0x7fffffffu) > 0x7f800000u) return {0x7fff};
  return {static_cast<std::uint16_t>((wide + 0x7fffu + (wide >> 16 & 1u)) >> 16)};
}
