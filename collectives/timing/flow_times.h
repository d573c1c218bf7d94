#pragma once

#include <vector>

#include "collectives/plan.h"
#include "collectives/timing/timer.h"
#include "collectives/transport.h"
#include "topology/cluster.h"

namespace stepcast::collectives {

/// When each flow of a pattern has arrived whole, in the order of the plan's transfers: from the launch of all of them,
/// with the constants of the transport's own protocol (Simple) and all its channels. Rank i is group[i], in the order
/// given. Flows share links max-min fairly, and what one leaves the others get. Throws InputError where there is no
/// path. O(flows * hops + re-solved flows).
std::vector<Time> flow_times(const CollectivePlan& plan, const Group& group, const topology::Cluster& cluster,
                             const Transport& transport);

}  // namespace stepcast::collectives
