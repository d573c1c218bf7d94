#pragma once

#include "collectives/timing/timer.h"
#include "workload/communication.h"

namespace stepcast::workload {

/// The least that the first Collective::own groups of a collective take in a program in which every group stands by
/// itself (Flows::Conditions::unfolded). Its siblings, the other groups, share links with them where all begin at once;
/// but groups that take unlike times drift apart, so these may find the links free and take no longer than alone. So
/// the answer is the lesser of their time alone and of that of the first to end of all; where all take the same time it
/// is that time, unless some ranks are `late`, which parts groups as well. Collective::scale is left to the caller. Of
/// the answer only times count: its loads may be those of all groups.
collectives::Timing least_timing(const Collective& collective, const collectives::Timer& timer, bool late = false);

}  // namespace stepcast::workload
