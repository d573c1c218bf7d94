#pragma once

#include <optional>
#include <vector>

#include "schedules/parallel/ranks.h"

namespace stepcast::schedules {

/// Groups of ranks inside one stage that share layers. Those named beside: the group of `c` first, then every group of
/// the same kind and stage that has a GPU in one of its neighbourhoods.

/// That share out the experts: of expert_ranks(plan) consecutive ranks of the stage, across tensor, context and data
/// ranks, every plan.expert_tensor-th, as Megatron-Core folds them (Liu et al. 2025, arXiv 2504.14960). Requires
/// expert_ranks(plan) to divide the ranks of a stage.
std::vector<collectives::Group> expert_groups_beside(const Ranks& ranks, Coordinate c);

/// That share each expert: plan.expert_tensor consecutive ranks of the stage. Requires the same.
std::vector<collectives::Group> expert_tensor_groups_beside(const Ranks& ranks, Coordinate c);

/// That share each sequence.
std::vector<collectives::Group> context_groups_beside(const Ranks& ranks, Coordinate c);

/// That stand in one row, in one column, or behind one another in the tensor grid.
std::vector<collectives::Group> grid_rows_beside(const Ranks& ranks, Coordinate c);
std::vector<collectives::Group> grid_columns_beside(const Ranks& ranks, Coordinate c);
std::vector<collectives::Group> grid_depths_beside(const Ranks& ranks, Coordinate c);

/// That hold the same head of keys and values: `copies` neighbours in a row of the tensor grid. Requires copies to
/// divide the row.
std::vector<collectives::Group> kv_copies_beside(const Ranks& ranks, Coordinate c, std::int64_t copies);

/// Groups of ranks that hold the same experts, or the same parts of them: every expert_ranks(plan)-th rank of the stage
/// of `c`. All groups of the stage; first the expert_ranks(plan) / plan.tensor that tensor rank c.tensor leads.
/// Requires plan.tensor to divide expert_ranks(plan). `copy`: the stage that holds another copy of the same chunk; its
/// ranks are of the groups.
std::vector<collectives::Group> expert_copies_of_stage(const Ranks& ranks, Coordinate c,
                                                       std::optional<std::uint32_t> copy = {});

/// Pairs {rank, the next one round the ring}: every rank of the groups of context_groups_beside.
std::vector<collectives::Group> context_rings_beside(const Ranks& ranks, Coordinate c);

}  // namespace stepcast::schedules
