#pragma once

#include <array>
#include <bitset>
#include <string_view>

#include "language/core/tree.h"

namespace stepcast::language {

/// The keys that make a parallel plan, in the order in which a result tells them.
inline constexpr std::array<std::string_view, 13> kPlanKeys{
    "parallelism.data",        "parallelism.tensor",        "parallelism.sequence", "parallelism.context",
    "parallelism.expert",      "parallelism.expert_tensor", "parallelism.pipeline", "pipeline.schedule",
    "pipeline.virtual_stages", "training.micro_batch",      "data_parallel.zero",   "recompute",
    "training.precision"};

/// Whether the key has a value there: by a scenario, by what that is based on, or by an option.
bool is_said(const Node& tree, std::string_view path);

/// For each of kPlanKeys whether it is said: by a scenario, by what that is based on, or by an option.
using SaidPlanKeys = std::bitset<kPlanKeys.size()>;

/// `tree`: of a scenario, its layers merged.
SaidPlanKeys said_plan_keys(const Node& tree);

}  // namespace stepcast::language
