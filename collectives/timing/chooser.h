#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "sim/units.h"

namespace stepcast::collectives {

/// What is known of a way to do a collective before it is simulated.
struct Prospect {
  Time latency{};               ///< of no bytes
  double seconds_per_byte = 0;  ///< on its busiest link
  Time fixed{};                 ///< before and beside all transfers
};

/// No simulation can be faster: what is fixed, and then not than its latency, not than its busiest link.
Time lower_bound(const Prospect& prospect, Bytes bytes);

struct Choice {
  std::size_t index = 0;
  Time duration{};
};

/// The fastest of them; the first of equals. Simulates (calls `simulate` with an index) in order of the lower bounds,
/// and stops where the bound is no better than the best. Requires at least one.
Choice choose(std::span<const Prospect> prospects, Bytes bytes, const std::function<Time(std::size_t)>& simulate);

}  // namespace stepcast::collectives
