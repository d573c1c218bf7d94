#pragma once

#include <string>
#include <vector>

#include "language/core/tree.h"
#include "language/frameworks/framework.h"
#include "scenario/scenario.h"

namespace stepcast::language {

/// A plan as a framework is told it.
struct Emitted {
  std::string text;
  /// What the text cannot say of the scenario: its machines for one. As --set has it, for `stepcast import`.
  std::vector<std::string> left;
};

/// The flags or the file that start a scenario's plan, with comments. `tree` is what the scenario was read from.
/// Requires schedules::check to be empty. Throws InputError with the key that the framework has nothing for.
Emitted emit(const Framework& framework, const schedules::Scenario& scenario, const Node& tree);

}  // namespace stepcast::language
