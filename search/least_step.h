#pragma once

#include "sim/units.h"

namespace stepcast::search {

/// What a plan's step takes at least.
struct LeastStep {
  Time time{};
  Time kernels{};  ///< GPUs run them for so long, mean over the stages (computing_share()), within rounding
};

}  // namespace stepcast::search
