#pragma once

#include <optional>
#include <string>

#include "scenario/problem.h"
#include "scenario/scenario.h"

namespace stepcast::schedules {

/// Whether the ranks of a stage do not all do the same, so that each is simulated. One data rank that is the server
/// does what no other does.
bool every_rank_differs(const Scenario& scenario);

/// What would take more than about a gigabyte of memory, or as many tasks as ten seconds allow, if the step were
/// simulated: estimated before any of it is made, from the scenario's sizes alone. The key of the size that makes it so
/// large, and how large it may be. `unfold`: every rank, whether they differ or not.
/// Requires a scenario that has no other problem.
std::optional<Problem> too_much_work(const Scenario& scenario, bool unfold);

/// The same of a step whose every transfer is simulated: what would make more tasks than memory holds, in words.
std::optional<std::string> too_many_parts(const Scenario& scenario);

}  // namespace stepcast::schedules
