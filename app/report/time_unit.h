#pragma once

#include "sim/units.h"

namespace stepcast::app {

/// What a table of times is in, so that three decimals tell a short step's parts apart.
struct TimeUnit {
  const char* name;
  double seconds;
};

/// Microseconds for steps below a millisecond, milliseconds below a tenth of a second, else seconds.
TimeUnit unit_of(Time step);

}  // namespace stepcast::app
