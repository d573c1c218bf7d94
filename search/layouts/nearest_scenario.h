#pragma once

#include <optional>
#include <span>

#include "scenario/scenario.h"
#include "search/layouts/layout_stage.h"

namespace stepcast::search {

/// The plan of the scenario language that comes nearest to these stages: as many GPUs each, all of which split their
/// weights' multiplies in the same way. Devices that share columns, rows or heads are tensor ranks, those that share
/// samples are data ranks, those that share experts are expert ranks; what most of a stage's parameters or, without
/// any, its operators have decides for an axis. None: stages differ, an axis splits something else, or the plan cannot
/// be forecast.
std::optional<schedules::Scenario> nearest_scenario(const schedules::Scenario& scenario,
                                                    std::span<const LayoutStage> stages);

}  // namespace stepcast::search
