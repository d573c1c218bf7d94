#pragma once

#include <vector>

#include "collectives/timing/timer.h"
#include "scenario/scenario.h"
#include "schedules/parallel/ranks.h"
#include "schedules/plan/balance.h"

namespace stepcast::schedules {

/// The scenario as each kind of GPU sees it: its GPU, and its samples as micro_batch. One, or two where the cluster has
/// other GPUs; with training.balance their shares make both kinds take as long for a forward and a backward pass, as
/// near as whole samples go.
std::vector<Scenario> kinds_of(const Scenario& scenario, const Ranks& ranks, const collectives::Timer& timer);

/// How data ranks of two kinds of GPUs share the samples of their micro-batches. Requires cluster.other.
TwoKinds sharing_of(const Scenario& scenario);

/// GPUs of each of kinds_of().
std::vector<std::uint32_t> gpus_of_kinds(const Scenario& scenario);

/// Whether any GPU of a stage is of that one of kinds_of().
bool is_held_by(const Scenario& scenario, const Ranks& ranks, std::uint32_t stage, std::size_t kind);

}  // namespace stepcast::schedules
