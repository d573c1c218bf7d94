#pragma once

#include <cstdint>
#include <vector>

#include "collectives/algorithm.h"
#include "collectives/timing/wiring.h"

namespace stepcast::collectives {

/// From the start of the first transfer over a route until the finish of the last one.
struct RouteAtWork {
  Time begin{}, end{};
};

/// What comes of running an algorithm's plan over a wiring.
struct Outcome {
  Time end{};
  std::vector<Time> group_end;           ///< by group of the wiring
  std::vector<double> carried;           ///< bytes, by resource of the wiring
  std::vector<double> by_route;          ///< bytes, by route of the wiring
  std::vector<std::uint32_t> transfers;  ///< likewise
  /// By route. Kept only of algorithms whose peers take turns.
  std::vector<RouteAtWork> at_work;
  /// Where data only passes through the ranks (passes_through): the longest that a rank has nothing to do between its
  /// parts of the channels. On a channel that passes through it soon it is done before another's data reach it.
  Time longest_pause{};
};

/// Runs the algorithm's plan for the request from time 0, all rates times `scale`. With `shorten`, of like rounds
/// (CollectivePlan::rounds) only as many are planned and run as it takes until the simulation is where it was some
/// rounds before: with the same transfers under way, equally far. From there on it does the same again, so each further
/// such stretch adds the same time, and the end is that of the whole plan to the picosecond. Requires request.rounds ==
/// 0.
Outcome play(const Algorithm& algorithm, Request request, const Wiring& wiring, double scale, bool shorten);

/// Data only passes through the ranks, from the root or to it.
bool passes_through(Operation operation);

/// Bytes that a plan of the wiring's connections sends over each of its routes.
std::vector<double> bytes_by_route(const CollectivePlan& plan, const Wiring& wiring);

}  // namespace stepcast::collectives
