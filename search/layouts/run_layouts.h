#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "models/layers/blocks.h"
#include "search/layouts/graph.h"
#include "search/layouts/held_mesh.h"
#include "search/layouts/operator_layouts.h"
#include "search/layouts/zero_one_program.h"
#include "workload/machine.h"

namespace stepcast::search {

/// The layouts of a kind of block on a mesh: those that each of its units can have, and that of its choice.
struct BlockLayouts {
  std::uint32_t kind = 0, count = 0;  ///< of Blocks::kinds; how many of the run
  std::vector<LayoutUnit> units;
  std::vector<UnitLayout> chosen;  ///< of each unit, the same in all blocks of the kind
};

/// What a run of blocks takes on a mesh with the best layouts.
struct RunLayouts {
  MeshShape shape{};
  Time time{};    ///< of a micro-batch, forward and backward, and its share of what is once a step
  Bytes bytes{};  ///< of a device
  std::vector<BlockLayouts> blocks;
};

/// Finds layouts of runs of blocks of one model on meshes of one machine. Blocks of a kind have the same layouts where
/// they stand in the same run: what a run takes depends on which blocks it has and which follow which, not on where it
/// begins, and is worked out once. Not for several threads at once.
class RunSearch {
 public:
  /// `scenario`: unsplit, and `blocks` its own. All outlive it. Where samples are held, they divide among the devices
  /// that share them.
  RunSearch(const schedules::Scenario& scenario, const schedules::Blocks& blocks, const workload::Machine& machine,
            ProgramSolver solver, bool splits_tokens, HeldMesh mesh = {});
  ~RunSearch();

  /// The best layouts of a run on so many devices that holds `held` micro-batches' activations; none: no layouts fit in
  /// a device's memory, or the shape that was asked for has other devices.
  const std::optional<RunLayouts>& best(schedules::BlockRange run, std::uint32_t devices, std::uint32_t held);

  /// No more than that takes; none: no layouts fit, or nobody knows yet whether some do. Without an integer program:
  /// what the best of each operator takes on the best mesh, or what runs take that may have any memory, where that is
  /// known.
  std::optional<Time> bound(schedules::BlockRange run, std::uint32_t devices, std::uint32_t held);

  /// What a device lacks for the layouts of a run that take the fewest bytes, on the best mesh for that; nothing where
  /// some fit.
  Bytes missing(schedules::BlockRange run, std::uint32_t devices, std::uint32_t held);

  /// How many integer programs there were.
  std::size_t programs() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace stepcast::search
