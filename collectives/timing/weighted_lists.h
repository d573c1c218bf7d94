#pragma once

#include <cstdint>
#include <vector>

#include "sim/distinct_lists.h"

namespace stepcast::collectives {

/// So much of something that has a number: of a link the bytes that cross it for each byte that moves, of a way how
/// many take it.
struct Weighted {
  std::uint32_t what = 0;
  double load = 1;
  friend bool operator==(const Weighted&, const Weighted&) = default;
};
constexpr std::uint32_t number_of(const Weighted& hop) { return hop.what; }
using WeightedList = std::vector<Weighted>;
using WeightedLists = sim::DistinctLists<Weighted>;

}  // namespace stepcast::collectives
