#pragma once

#include <cstdint>
#include <stdexcept>
#include <vector>

#include "collectives/plan.h"

namespace stepcast::collectives {

/// The plan's transfers wait for each other in a circle; what() names one that never runs, with its ranks.
struct CyclicPlan : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Which of the transfers that may run runs first. A correct plan gives the same buffers with either.
enum class TransferOrder : std::uint8_t { first_ready_first, last_ready_first };

/// Runs a whole plan (not a folded one) on integers, one transfer at a time, each sending what its source held when it
/// started, and leaves the result in `buffers`, one per rank and indexed by element number. Throws CyclicPlan, and
/// std::out_of_range for ranks or elements that do not exist. O(transfers + dependencies + elements moved).
void execute(const CollectivePlan& plan, std::vector<std::vector<std::int64_t>>& buffers,
             TransferOrder turn = TransferOrder::first_ready_first);

/// Ranks that neither send nor receive anything, in order: a collective that leaves one out does not reach it.
std::vector<RankId> unreached(const CollectivePlan& plan);

}  // namespace stepcast::collectives
