#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "sim/units.h"

namespace stepcast::collectives {

/// Fabric links that folding cannot make one of with others, and what loads them. A simulated flow stands for several
/// that do the same on other nodes, and these use such links unlike: of two of a fat tree's, say, one may cross between
/// pods and the other stay under its spines (Wiring::aside). The links of one list are loaded alike by all these flows
/// together, so the list keeps the loads of one of its links.
struct AsideLinks {
  Bandwidth capacity{};  ///< of each link
  /// The share of the capacity that is asked for if each flow goes as fast as it could alone; above 1 the link can
  /// fill.
  double most = 0;
  /// A flow, and which share of the capacity it takes for each byte per second that it moves.
  std::vector<std::pair<std::uint32_t, double>> loads;

  void add(std::uint32_t flow, double load, double alone);
};

/// How a simulation treats each of some lists, by their numbers. A list that stands in neither vector cannot be full,
/// or no sooner than one that is shared, and needs no treatment.
struct AsideSharing {
  std::vector<std::uint32_t> shared;  ///< a resource, which the flows share that are active; the fullest first
  std::vector<std::uint32_t> split;   ///< of each a flow gets a fixed part, as if all flows were always active
};
/// `flows`: how many there are. At most 32 lists are shared, because each makes every step of a simulation dearer.
AsideSharing share(std::span<const AsideLinks> lists, std::size_t flows);

}  // namespace stepcast::collectives
