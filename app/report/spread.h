#pragma once

#include <vector>

namespace stepcast::app {

/// One figure over many hashings of a fabric.
struct HashingSpread {
  double least = 0, median = 0, p95 = 0, most = 0;  ///< p95: the smallest that 95 in 100 do not exceed
};

/// Requires at least one value.
HashingSpread spread(std::vector<double> values);

}  // namespace stepcast::app
