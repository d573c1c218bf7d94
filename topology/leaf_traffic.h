#pragma once

#include "topology/cluster.h"

namespace stepcast::topology {

/// Whether no traffic of the job's GPUs goes above the leaf switches: all network cards of its nodes are on one, or
/// those of each number are on one of their own and senders change rail inside their node. O(nodes x cards).
bool stays_below_leaves(const Cluster& cluster);

}  // namespace stepcast::topology
