#pragma once

#include "schedules/step/lanes.h"
#include "schedules/step/weight_updates.h"

namespace stepcast::schedules {

/// ZeRO 3: the passes of lanes whose data ranks share the parameters. Each piece's parameters are gathered before it
/// runs, for forward and backward anew, and again between recomputation and backward where the software lets go of
/// them; gradients leave piece by piece where a pass sums.
class ParameterGathers {
 public:
  ParameterGathers(Lanes& lanes, WeightUpdates& updates);

  /// A pass of a lane, with the gathers that it waits for. `sums_gradients`: what it makes is summed over the data
  /// ranks.
  void add_pass(std::uint32_t lane, const Pass& pass, const Chunk& chunk, bool sums_gradients);

 private:
  /// What may be prefetched is gathered from when the task before starts, the rest from when it has ended; of a piece
  /// without parameters nothing. Returns the last of the tasks that compute.
  sim::TaskId add_compute(std::uint32_t lane, const Pass& pass, const Gathers& gathers, Stretch time);

  Lanes& lanes_;
  WeightUpdates& updates_;
  const Scenario& s_;
};

}  // namespace stepcast::schedules
