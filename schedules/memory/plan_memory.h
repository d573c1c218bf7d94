#pragma once

#include <cstdint>
#include <optional>

#include "schedules/forecast.h"
#include "schedules/staged_model.h"
#include "topology/cluster.h"

namespace stepcast::schedules {

/// One GPU of a stage, at its peak.
MemoryUse stage_memory(const Scenario& scenario, const StagedModel& staged, std::uint32_t stage);

/// Requires the memory of every stage in forecast.stages. Writes down what each kind of GPU takes, where there are two,
/// and what does not fit: the fullest stage, else GPUs of the second kind.
void compare_with_gpus(Forecast& forecast, const Scenario& scenario, const StagedModel& staged);
/// Behind it, where something is offloaded: what the nodes have and, where all GPUs' memory suffices, the fullest node.
void compare_with_nodes(Forecast& forecast, const Scenario& scenario, const StagedModel& staged,
                        const topology::Cluster& cluster);

/// What of a scenario does not fit, as its forecast finds it, without running a step. Requires check() to be empty, and
/// the cluster to be the scenario's.
std::optional<OutOfMemory> does_not_fit(const Scenario& scenario, const topology::Cluster& cluster);

}  // namespace stepcast::schedules
