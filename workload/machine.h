#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "collectives/timing/timer.h"
#include "collectives/transport.h"
#include "topology/allocation.h"
#include "topology/cluster.h"
#include "topology/slow_node.h"
#include "topology/spec.h"

namespace stepcast::workload {

/// What a machine is made from: nodes, what joins them, which of their GPUs are used, and the library that moves data
/// between them. Two machines of equal specifications are the same.
struct MachineSpec {
  topology::NodeSpec node;
  topology::FabricSpec fabric;
  std::uint32_t gpus = 0;
  std::optional<topology::Allocation> allocation{};  ///< which GPUs; none: the first
  collectives::Transport transport{};
  bool whole_collectives = false;  ///< what is asked for unfolded is simulated whole, even where folding is exact
  std::optional<topology::SlowNode> slow_node{};
  friend bool operator==(const MachineSpec&, const MachineSpec&) = default;
};

/// A cluster, and the times of the collectives on it, each worked out once. Building one costs far more than asking it,
/// so that many forecasts share it. Its answers do not depend on what was asked before. Safe to share between threads.
class Machine {
 public:
  /// Throws InputError where the cluster cannot be built.
  explicit Machine(const MachineSpec& spec);

  const topology::Cluster& cluster() const { return cluster_; }
  const collectives::Timer& timer() const { return timer_; }
  /// whole_link_capacity() of every link, by LinkId: worked out once, when somebody first asks.
  const std::vector<Bandwidth>& link_capacities() const;

 private:
  topology::Cluster cluster_;
  collectives::Timer timer_;
  mutable std::once_flag capacities_known_;
  mutable std::vector<Bandwidth> capacities_;
};

}  // namespace stepcast::workload
