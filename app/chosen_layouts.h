#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/report/layout_report.h"
#include "search/layouts/held_stages.h"
#include "search/layouts/layouts.h"

namespace stepcast::app {

inline constexpr std::uint32_t kMostLayoutStages = 1'000, kMostLayoutGroups = 96;

/// "AxB" as a mesh; nothing for no word. Throws InputError naming the option.
std::optional<search::MeshShape> mesh_named(const std::string& word, const std::string& option);

/// What is asked of stages: how many, or which; or nothing of either.
struct AskedStages {
  std::string option;  ///< that asks it, as errors name it
  std::optional<std::uint32_t> count{};
  std::vector<search::HeldStage> held{};
};

/// A number, or "LAYERS:GPUS[:AxB[:samples]],...": with `samples` the A rows of a mesh share the samples and its
/// columns do not. Throws InputError naming the option.
AskedStages stages_named(const std::string& word, const std::string& option);

/// Throws InputError where something else than the stages is asked beside stages that are held.
void check_alone(const AskedStages& stages, const search::LayoutOptions& options);

/// Layers to stages and operators to layouts, or operators alone where stages are held, beside the scenario's own plan,
/// on so many threads (0: as many as the machine has). Requires search::layout_problems(scenario) to be empty. Throws
/// std::runtime_error where this stepcast was built without the solver.
LayoutReport chosen_layouts(const schedules::Scenario& scenario, const search::LayoutOptions& options,
                            const AskedStages& stages, unsigned threads);

}  // namespace stepcast::app
