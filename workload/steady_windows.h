#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/units.h"

namespace stepcast::workload {

/// A worker's steps after the one numbered `from`, to `to`, and how many it makes a second there.
struct SteadyWindow {
  std::uint32_t from = 0, to = 0;
  double rate = 0;
};

/// Of workers that do not wait for each other, by worker: the steps that are in the time in which all of them are at
/// work, without its first third. `updated`: when each one's steps have ended, two at least.
std::vector<SteadyWindow> steady_windows(std::span<const std::vector<Time>> updated);

/// In which all workers together make as many steps as there are workers.
Time steady_step(std::span<const SteadyWindow> windows);

}  // namespace stepcast::workload
