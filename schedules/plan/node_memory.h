#pragma once

#include <optional>
#include <span>
#include <vector>

#include "scenario/scenario.h"
#include "schedules/results/results.h"

namespace stepcast::schedules {

/// What the fullest node has in host memory and on its drives, where something is there.
struct FullestNodes {
  std::optional<NodeMemory> host_memory{}, drives{};
  std::optional<OutOfMemory> out_of_memory{};  ///< where that is more than a node holds
};

/// Adds up what the GPUs of each node offload. `of_kinds`: what a GPU of each of kinds_of() takes, by stage. O(GPUs).
FullestNodes fullest_nodes(const Scenario& scenario, std::span<const std::vector<MemoryUse>> of_kinds);

}  // namespace stepcast::schedules
