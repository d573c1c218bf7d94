#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "collectives/timing/question.h"
#include "collectives/timing/timing.h"
#include "topology/cluster.h"
#include "topology/moved_nodes.h"

namespace stepcast::collectives {

/// Groups in the same places of earlier nodes, where their ways are the same: what they do there takes as long, on
/// links in the same places. So groups of all stages of a pipeline, say, need to be timed once for each way in which
/// they lie on the fabric's switches.
class EarlierPlace {
 public:
  /// The earliest that is found. Nothing: there is none, or it cannot be told. Requires groups that are placed
  /// (placement.h). O(nodes in use x nodes before them) at most, mostly far less.
  static std::optional<EarlierPlace> find(const topology::Cluster& cluster, std::span<const Group> groups);

  /// The groups, there.
  std::vector<Group> groups(std::span<const Group> later) const;
  /// What is timed there, here.
  Timing timing(Timing earlier) const;

  /// About what it takes in memory.
  std::size_t bytes() const { return sizeof(gpus_) + nodes_.bytes(); }

 private:
  std::uint32_t gpus_ = 0;  ///< that it is before
  topology::MovedNodes nodes_;
};

}  // namespace stepcast::collectives
