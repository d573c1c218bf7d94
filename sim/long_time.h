#pragma once

#include "sim/units.h"

namespace stepcast {

/// from_seconds(), whose error is `too_long` past 106 days: what takes so long, and at which rate.
inline Time from_seconds(double seconds, const char* too_long) {
  try {
    return from_seconds(seconds);
  } catch (const std::overflow_error&) {
    throw std::overflow_error(too_long);
  }
}

}  // namespace stepcast
