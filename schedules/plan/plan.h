#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "scenario/scenario.h"
#include "schedules/plan/staged_model.h"
#include "schedules/results/results.h"
#include "workload/machines.h"

namespace stepcast::schedules {

/// What a scenario comes to before anything is timed: which blocks each stage holds, in what order it runs its passes,
/// what its GPUs and nodes hold at their peak, and whether that fits. To make one takes some ten microseconds, so that
/// of many plans those that do not fit need not be simulated.
struct Plan {
  StagedModel staged;
  std::vector<MemoryUse> memory;  ///< of one GPU of each stage, at its peak; of two kinds one of the first
  std::vector<Share> shares{};    ///< of GPUs of two kinds
  std::optional<NodeMemory> host_memory{}, drives{};  ///< of the fullest node; none: nothing is there
  /// The fullest stage that does not fit, else the fullest node: without advice. None: the plan fits.
  std::optional<OutOfMemory> out_of_memory{};
};

/// Requires check() of the scenario to be empty. A machine is asked for only where GPUs of two kinds share the batch by
/// their speed, which depends on what the network takes. Throws InputError where that cannot be built. `shared`:
/// remembers what plans have in common, for whoever makes many; none: all is made.
Plan plan(const Scenario& scenario, workload::Machines& machines, SharedParts* shared = nullptr);

/// The same, of kinds_of() the scenario.
Plan plan(const Scenario& scenario, std::vector<Scenario> kinds, SharedParts* shared = nullptr);

}  // namespace stepcast::schedules
