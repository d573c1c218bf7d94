#pragma once

#include "collectives/timing/timer.h"
#include "scenario/scenario.h"
#include "schedules/parallel/ranks.h"
#include "topology/cluster.h"

namespace stepcast::schedules {

/// A scenario's cluster, ranks and collectives, to time what its step does by itself.
struct Alone {
  explicit Alone(const Scenario& s)
      : cluster(topology::build_cluster(s.cluster.node, s.cluster.fabric, s.cluster.gpus, s.cluster.allocation)),
        ranks(s.parallelism, cluster.gpus_per_node()),
        timer(cluster, s.software.transport) {}
  topology::Cluster cluster;
  Ranks ranks;
  collectives::Timer timer;
};

}  // namespace stepcast::schedules
