#pragma once

#include <cstdint>
#include <vector>

#include "sim/distinct_lists.h"

namespace stepcast::collectives {

/// So much of something that has a number: of a link the bytes that cross it for each byte that moves, of a way how
/// many take it.
struct Hop {
  std::uint32_t what = 0;
  double load = 1;
  friend bool operator==(const Hop&, const Hop&) = default;
};
constexpr std::uint32_t number_of(const Hop& hop) { return hop.what; }
using Hops = std::vector<Hop>;
using HopLists = sim::DistinctLists<Hop>;

}  // namespace stepcast::collectives
