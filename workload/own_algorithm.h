#pragma once

#include <string>
#include <vector>

#include "collectives/timing/timer.h"
#include "workload/communication.h"

namespace stepcast::workload {

/// The algorithm of the groups of a collective that ask, in a program in which every group stands by itself. Groups
/// that lie on their nodes unlike each other are communicators for which NCCL's model may pick unlike algorithms, each
/// without regard to the others; Timer::time() has one for all of them. "library" where that is no other.
std::string own_algorithm(const Collective& collective, const collectives::Timer& timer);

/// What all groups of such a collective load together, each going its own way, by link; empty where all go the same.
std::vector<collectives::Timing::Load> loads_of_unlike(const Collective& collective, const collectives::Timer& timer);

}  // namespace stepcast::workload
