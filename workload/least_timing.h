#pragma once

#include "collectives/timing/timer.h"
#include "workload/communication.h"

namespace stepcast::workload {

/// What the groups of a collective that ask take at least in a program in which every group stands by itself
/// (Flows::Conditions::unfolded), but for its scale: siblings that take unlike times do not stay together, so the
/// groups may find the links free. `late`: nor do those that take like times, because some of their ranks are late.
/// Its loads are not those of these groups alone.
collectives::Timing least_timing(const Collective& collective, const collectives::Timer& timer, bool late = false);

}  // namespace stepcast::workload
