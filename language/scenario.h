#pragma once

#include <string>

#include "language/core/library.h"
#include "language/core/schema.h"
#include "scenario/scenario.h"

namespace stepcast::language {

/// The keys of a scenario: the language of scenario files, of --set and of runs tables.
const Schema& scenario_schema();

/// Reads the tree of a scenario whose layers are merged; defaults filled in, contradictions between keys not looked
/// for (schedules::check does). Throws InputError.
schedules::Scenario read_scenario(const Node& tree, Library& library);

}  // namespace stepcast::language
