#pragma once

#include <cmath>
#include <stdexcept>

#include "sim/units.h"

namespace stepcast {

/// Whole bytes, rounded towards 0. Throws std::overflow_error past 8 EiB or for a number that is none.
inline Bytes whole_bytes(double bytes) {
  if (!(std::abs(bytes) < 9.2e18)) throw std::overflow_error(ByteCount::kTooLarge);
  return {static_cast<std::int64_t>(bytes)};
}

}  // namespace stepcast
