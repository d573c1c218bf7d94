#pragma once

#include <optional>
#include <span>
#include <vector>

#include "collectives/plan.h"
#include "collectives/timing/wiring.h"
#include "sim/task_graph.h"

namespace stepcast::collectives {

/// The plan as tasks for sim::run, once per group that the wiring simulates. An element is a byte. A connection's
/// transfers run one after the other. Resources and routes are numbered as in the wiring, a transfer's `tag` is its
/// TransferId. All rates times `scale`: what a protocol, or fewer channels, leave of them.
sim::TaskGraph lower(const CollectivePlan& plan, const Wiring& wiring, double scale = 1);

/// Where one group's transfers go: by connection, the route and what is ahead of it, as a Wiring has them. No `ahead`:
/// nothing is.
struct GroupRoutes {
  std::span<const sim::RouteId> routes;
  std::span<const Time> ahead;
};

/// One group's transfers, added to a graph that has their routes. Those that come after nothing wait for `begin`.
/// Returns the last one of each connection: all of them have ended when these have.
std::vector<std::optional<sim::TaskId>> add_group(const CollectivePlan& plan, const GroupRoutes& over,
                                                  std::optional<sim::TaskId> begin, sim::TaskGraph& graph);

}  // namespace stepcast::collectives
