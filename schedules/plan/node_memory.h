#pragma once

#include <optional>
#include <span>

#include "scenario/scenario.h"
#include "schedules/results/results.h"

namespace stepcast::schedules {

/// What the fullest node has in host memory and on its drives, where something is there.
struct FullestNodes {
  std::optional<NodeMemory> host_memory{}, drives{};
  std::optional<OutOfMemory> out_of_memory{};  ///< where that is more than a node holds
};

/// Adds up what the GPUs of each node offload. `of_stages`: what a GPU of each stage takes; `of_other`: a GPU of the
/// second kind. O(GPUs).
FullestNodes fullest_nodes(const Scenario& scenario, std::span<const MemoryUse> of_stages,
                           const std::optional<MemoryUse>& of_other);

}  // namespace stepcast::schedules
