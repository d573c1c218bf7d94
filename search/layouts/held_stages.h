#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "search/layouts/held_mesh.h"
#include "search/layouts/layouts.h"

namespace stepcast::search {

/// A stage that somebody else chose: how many of the model's layers it has, its GPUs, and what is known of its mesh.
struct HeldStage {
  std::uint32_t layers = 0, gpus = 0;
  HeldMesh mesh{};
};

/// What a stage's GPUs lack for the layouts that take the fewest bytes.
struct StageShortage {
  std::uint32_t stage = 0;
  Bytes missing{};
};

struct HeldPlan {
  std::optional<LayoutPlan> plan{};        ///< none: a stage does not fit
  std::vector<StageShortage> shortages{};  ///< of every stage that does not
};

/// The plan of these stages, in the order of the model, with the best layouts of the operators inside each. Its time is
/// that of best_layout_plan for the same stages. Requires layout_problems() to be empty. Throws InputError, naming the
/// option, for stages that do not add up to the model and the cluster, or that best_layout_plan could not choose.
HeldPlan held_layout_plan(const schedules::Scenario& scenario, std::span<const HeldStage> stages,
                          const std::string& option, ProgramSolver solver, workload::Machines& machines);

}  // namespace stepcast::search
