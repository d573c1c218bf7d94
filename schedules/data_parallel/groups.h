#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "schedules/parallel/ranks.h"
#include "schedules/scenario.h"

namespace stepcast::schedules {

/// Who sums gradients and gathers parameters with whom, for a rank at one place. Each list starts with the rank's own
/// groups; the others run at the same moment on links they share.
struct DataGroups {
  /// `copy`: the stage that holds another copy of what is summed; its ranks are of the group.
  DataGroups(const Ranks& ranks, const Scenario& scenario, Coordinate c, std::optional<std::uint32_t> copy = {});

  /// Ranks that share one copy: all data ranks, or with hybrid sharding (Zhao et al., "PyTorch FSDP", arXiv 2304.11277,
  /// sec. 3.2.2) groups of them, all of the stage's.
  std::vector<collectives::Group> shards;
  /// Ranks that hold the same shard; empty where one group shares all.
  std::vector<collectives::Group> replicas;
  std::size_t own_shards = 1, own_replicas = 0;
};

/// The name in collectives/algorithms.h for a way to sum.
std::string_view algorithm(DataParallelMode mode);

}  // namespace stepcast::schedules
