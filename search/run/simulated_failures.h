#pragma once

#include <cstdint>

#include "search/run/failures.h"

namespace stepcast::search {

/// Of runs whose failures were drawn.
struct SimulatedRuns {
  std::uint32_t runs = 0;
  Duration mean{}, deviation{};  ///< of their time; the deviation of one run
  Duration low{}, high{};        ///< 90 % of the runs lie between
  double failures = 0;           ///< mean

  /// The standard error of the mean.
  Duration error() const;
};

/// Walks through so many runs event by event: the end of each interval, copy, write and restart, and failures, drawn
/// from the seed and the number of the run. Nothing of expected_times() goes in. Requires runs > 1. O(runs x
/// (intervals + failures)). Throws InputError where a run takes more than a hundred million events.
SimulatedRuns simulate_failures(const FailureModel& model, Duration work, Duration interval, std::uint32_t runs,
                                std::uint64_t seed);

}  // namespace stepcast::search
