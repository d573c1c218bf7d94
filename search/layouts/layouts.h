#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "search/layouts/layout_stage.h"
#include "search/layouts/zero_one_program.h"
#include "workload/machines.h"

namespace stepcast::search {

struct LayoutOptions {
  std::optional<MeshShape> mesh{};        ///< of every stage; none: the best of all
  std::optional<std::uint32_t> stages{};  ///< how many; none: as many as are best
  /// Layers are put into at most so many groups that stages do not split; none: 32, or as many as the scenario has
  /// stages.
  std::optional<std::uint32_t> groups{};
};

/// A plan that gives each stage its layers and its own mesh, and each operator its layout.
struct LayoutPlan {
  std::vector<LayoutStage> stages;
  Time time{};                 ///< of a step
  std::size_t programs = 0;    ///< integer programs that were solved
  std::uint32_t groups = 0;    ///< of layers
  schedules::Blocks blocks{};  ///< of the unsplit model
  /// The nearest plan that a scenario can say, if all stages are alike and each operator of a kind is split as tensor,
  /// data or expert parallelism split it (nearest_scenario).
  std::optional<schedules::Scenario> scenario{};
};

/// The plan of least time on the scenario's cluster, with its batch, its number of micro-batches and its stack: Alpa's
/// two levels (Zheng et al. 2022, arXiv 2201.12023, sec. 4 and 5). What the scenario says of tensor, data and pipeline
/// ranks counts for nothing else. Tokens are split where it has sequence parallelism. None: nothing fits. Requires
/// layout_problems() to be empty. Throws InputError for a mesh or stages that the cluster or the model cannot have.
std::optional<LayoutPlan> best_layout_plan(const schedules::Scenario& scenario, const LayoutOptions& options,
                                           ProgramSolver solver, workload::Machines& machines);

}  // namespace stepcast::search
