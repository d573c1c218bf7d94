#pragma once

#include "schedules/forecast.h"
#include "schedules/parallel/ranks.h"
#include "topology/cluster.h"

namespace stepcast::schedules {

/// Adds up what the GPUs of each node offload, writes down what the fullest node has in host memory and on its drives,
/// and, where that is more than they hold and the GPUs' own memory suffices, that it is out of memory. Requires
/// forecast.stages; `of_other`: of the GPUs of a second kind. O(GPUs).
void add_node_memory(Forecast& forecast, const Scenario& scenario, const topology::Cluster& cluster, const Ranks& ranks,
                     const std::optional<MemoryUse>& of_other);

}  // namespace stepcast::schedules
