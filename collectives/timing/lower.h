#pragma once

#include "collectives/plan.h"
#include "collectives/timing/wiring.h"
#include "sim/task_graph.h"

namespace stepcast::collectives {

/// The plan as tasks for sim::run, once per group that the wiring simulates. An element is a byte. A connection's
/// transfers run one after the other. Resources and routes are numbered as in the wiring, a transfer's `tag` is its
/// TransferId. All rates times `scale`: what a protocol, or fewer channels, leave of them.
sim::TaskGraph lower(const Plan& plan, const Wiring& wiring, double scale = 1);

}  // namespace stepcast::collectives
