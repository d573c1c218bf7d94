#pragma once

#include <functional>
#include <string>
#include <vector>

#include "scenario/scenario.h"

namespace stepcast::schedules {

/// A change of a scenario that may make it take less memory, or be nonsense: check() tells.
using Change = std::function<void(Scenario&)>;
/// Changes of the same kind, mildest first, of which one is made.
using ChangeGroup = std::vector<Change>;

/// Those that leave ranks where they are, roughly by what they cost a step: ZeRO, more expert ranks, sequence
/// parallelism, smaller micro-batches, recomputation.
std::vector<ChangeGroup> mild_changes(const Scenario& scenario);
/// Other ranks on the same GPUs: more tensor ranks in a node, more context and pipeline ranks.
std::vector<ChangeGroup> placing_changes(const Scenario& scenario);
/// Those that send a layer's traffic over the network or its state out of the GPU: tensor ranks of several nodes,
/// offloading, and less of it.
std::vector<ChangeGroup> dear_changes(const Scenario& scenario);

/// Ever more GPUs, each time for data, pipeline and tensor ranks in turn. Empty where it is said which GPUs are used.
std::vector<Change> more_gpus(const Scenario& scenario);

/// What --set takes to make of `from` what these changes made of it: "recompute=full".
std::vector<std::string> settings(const Scenario& from, const Scenario& to);

}  // namespace stepcast::schedules
