#pragma once

#include <cstdint>
#include <optional>

#include "sim/units.h"

namespace stepcast::schedules {

/// Parameters and optimizer state written out, each element once.
struct CheckpointPlan {
  std::uint32_t every = 0;                        ///< steps from one to the next; 0: none
  std::optional<Bandwidth> bandwidth{};           ///< of the storage, all GPUs together
  std::optional<Time> write_time{};               ///< of one checkpoint, where that is known instead
  bool asynchronous = false;                      ///< copied to host memory first, written while training goes on
  std::optional<Bandwidth> snapshot_bandwidth{};  ///< of one GPU to host memory
};

}  // namespace stepcast::schedules
