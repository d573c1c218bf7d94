#pragma once

#include <vector>

#include "schedules/forecast.h"
#include "schedules/scenario.h"
#include "topology/cluster.h"

namespace stepcast::schedules {

/// What to change where a scenario does not fit: at most three changes that each make it fit on this cluster, those
/// that cost a step least first. Where no single one does, the fewest and mildest together that do; where not even
/// these, what comes nearest, and behind it the first of ever larger clusters that will do. All of them were
/// tried: they pass check(), and their memory is computed as a forecast computes it. Requires the cluster to be the
/// scenario's, and does_not_fit() to be `over`. Cost: some dozens of does_not_fit(), none of many more passes than the
/// scenario has.
std::vector<Advice> advice(const Scenario& scenario, const topology::Cluster& cluster, const OutOfMemory& over);

}  // namespace stepcast::schedules
