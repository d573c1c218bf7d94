#pragma once

#include <span>
#include <string>
#include <vector>

#include "language/core/library.h"
#include "language/frameworks/framework.h"
#include "scenario/scenario.h"

namespace stepcast::app {

/// What a plan is read from that is to be told to a framework: a scenario's file and layers of settings on it.
language::Node launch_tree(const std::string& file, std::span<const std::vector<std::string>> layers,
                           language::Library& library);

/// The flags or the file that start a plan with a framework. `file` and the layers of settings on it are what the
/// scenario was read from. Throws InputError with the key that the framework has nothing for.
std::string launch_text(const language::Framework& framework, const schedules::Scenario& scenario,
                        const std::string& file, std::span<const std::vector<std::string>> layers,
                        language::Library& library);

/// The framework behind `search --emit`. Throws InputError with all that can stand there.
const language::Framework& emitted_framework(const std::string& name);

}  // namespace stepcast::app
