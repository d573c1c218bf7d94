#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "models/layers/blocks.h"
#include "scenario/scenario.h"
#include "schedules/parallel/ranks.h"

namespace stepcast::schedules {

/// Parameters on one rank.
struct Held {
  double all = 0;
  double experts = 0;  ///< of those, of experts that the expert ranks share out
  double rest() const { return all - experts; }
  friend Held operator+(Held a, Held b) { return {a.all + b.all, a.experts + b.experts}; }
};

/// Those of a block and of some chunks, and those of them that are trained.
Held held_of(const Block& block);
Held trained_held(const Block& block);
Held all_held(const Blocks& blocks, std::span<const BlockRange> chunks);
Held trained_held(const Blocks& blocks, std::span<const BlockRange> chunks);
/// As many of all as would take the bytes that they do in the training's precision (models/layers/frozen.h).
Held stored_held(const Scenario& scenario, const Block& block);
Held stored_held(const Scenario& scenario, const Blocks& blocks, std::span<const BlockRange> chunks);

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
  /// Ranks that hold the same experts; empty where all ranks hold all.
  std::vector<collectives::Group> experts;
  std::size_t own_shards = 1, own_replicas = 0, own_experts = 0;
};

/// What is left for one rank of parameters that ZeRO spreads over all ranks that hold them; `copies`: stages that do.
double sharded(const Scenario& scenario, Held held, std::uint32_t copies);

/// Likewise where ZeRO spreads them from the stage `zero` on; before it, all of them.
double sharded_from(int zero, const Scenario& scenario, Held held, std::uint32_t copies);

/// Parameters that one rank updates of those it holds; likewise.
double updated(const Scenario& scenario, Held held, std::uint32_t copies);

/// The name in collectives/algorithms.h for a way to sum.
std::string_view algorithm(DataParallelMode mode);

}  // namespace stepcast::schedules
