#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "app/report/layout_report.h"
#include "search/layouts/layouts.h"

namespace stepcast::app {

inline constexpr std::uint32_t kMostLayoutStages = 1'000, kMostLayoutGroups = 96;

/// "AxB" as a mesh; nothing for no word. Throws InputError naming the option.
std::optional<search::MeshShape> mesh_named(const std::string& word, const std::string& option);

/// Layers to stages and operators to layouts, beside the scenario's own plan, on so many threads (0: as many as the
/// machine has). Requires search::layout_problems(scenario) to be empty. Throws std::runtime_error where this stepcast
/// was built without the solver.
LayoutReport chosen_layouts(const schedules::Scenario& scenario, const search::LayoutOptions& options,
                            unsigned threads);

}  // namespace stepcast::app
