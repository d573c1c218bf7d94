#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "sim/units.h"

namespace stepcast::collectives {

/// A list of fabric links that like flows use unlike (Wiring::aside), as the flows that stand for their like load each
/// of them.
struct AsideLinks {
  Bandwidth capacity{};                                 ///< of each link
  double most = 0;                                      ///< of the capacity, if each flow were the only one
  std::vector<std::pair<std::uint32_t, double>> loads;  ///< flow, and of the capacity for each byte a second it moves

  void add(std::uint32_t flow, double load, double alone);
};

/// Which of some lists the flows share while they are active, the fullest first, and which are split among all flows.
/// The others cannot be full, or no sooner than one that is shared.
struct AsideSharing {
  std::vector<std::uint32_t> shared, split;
};
AsideSharing share(std::span<const AsideLinks> lists, std::size_t flows);

}  // namespace stepcast::collectives
