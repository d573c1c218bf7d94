#pragma once

#include <string>
#include <vector>

#include "collectives/timing/timer.h"
#include "workload/communication.h"

namespace stepcast::workload {

/// The algorithm of one group of a collective, the first of Collective::groups, in a program in which every group
/// stands by itself. The groups are communicators of their own, and NCCL's model picks an algorithm for each without
/// regard to the others: of two that lie on their nodes unlike each other, one may be told a ring and the other a tree.
/// Where the collective leaves the choice to the library, Timer::time() picks one for all of them. Returned is what is
/// to be asked of the timer: "ring/LL128" or the like where the group's own pick is another, else the collective's own
/// algorithm ("library" where it leaves the choice).
std::string own_algorithm(const Collective& collective, const collectives::Timer& timer);

/// What all groups of such a collective load together, by link, each with its own algorithm; empty where all have the
/// same.
std::vector<collectives::Timing::Load> loads_of_unlike(const Collective& collective, const collectives::Timer& timer);

}  // namespace stepcast::workload
