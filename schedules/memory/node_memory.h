#pragma once

#include <optional>

#include "schedules/plan.h"

namespace stepcast::schedules {

/// Adds up what the GPUs of each node offload, writes down what the fullest node has in host memory and on its drives,
/// and, where that is more than they hold and the GPUs' own memory suffices, that it is out of memory. Requires
/// plan.memory; `of_other`: of the GPUs of a second kind. O(GPUs).
void add_node_memory(Plan& plan, const Scenario& scenario, const std::optional<MemoryUse>& of_other);

}  // namespace stepcast::schedules
