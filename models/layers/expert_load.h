#pragma once

#include <cstdint>
#include <vector>

#include "scenario/scenario.h"

namespace stepcast::schedules {

/// What routing makes of one micro-batch's tokens on one rank. A copy is one token's visit to one expert. The rank
/// meant is the one with the most work: the others of its expert group wait for it in every layer.
struct Routing {
  std::int64_t tokens = 0;         ///< routed by this rank: its own part of the sequence
  std::int64_t sent = 0;           ///< copies that it sends, itself included
  std::int64_t local_experts = 0;  ///< on this rank, or parts of them
  std::int64_t per_expert = 0;     ///< copies that each of them gets, rounded up; those of all ranks that share it
  std::int64_t sharers = 1;  ///< ranks that share each expert: each gets its own copies, then all have all of them
  double kept = 1;           ///< share of all copies that an expert has room for; the others are dropped
  double useful = 1;         ///< share of received() that are copies of tokens on a mean rank; the rest is padding
  std::int64_t received() const { return local_experts * per_expert; }
  std::int64_t received_alone() const { return received() / sharers; }
};

/// Requires experts, and check() to be empty.
Routing routing(const Scenario& scenario);

/// Loads of the ranks of an expert group over their mean. Even with a capacity, else the mean of their experts' loads,
/// which are drawn from a log-normal distribution of mean 1 and standard deviation ExpertLoad::spread: one draw for all
/// layers. The same on every machine for one seed.
std::vector<double> rank_loads(const Scenario& scenario);

}  // namespace stepcast::schedules
