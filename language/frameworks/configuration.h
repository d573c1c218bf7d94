#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "language/core/library.h"
#include "language/core/tree.h"
#include "language/frameworks/framework.h"

namespace stepcast::language {

/// A scenario made of what starts a training.
struct ImportedScenario {
  std::string text;  ///< of its file
  Node tree;         ///< the same; the place of each value is that of what says it
};

/// A framework's configuration as a scenario, with a comment on each line that says where it came
/// from or that it was assumed, and in front what of the configuration changes no forecast. `settings` are "key=value",
/// laid over it: what the configuration cannot say, machines for one. Throws InputError for a name that is not known,
/// with the nearest, and for one that is and changes the answer but stands for nothing in a scenario.
/// `folder`: where the text will stand, which names files as they are from there.
ImportedScenario scenario_of_configuration(const Framework& framework, std::string_view text, const std::string& file,
                                           std::span<const std::string> settings, Library& library,
                                           const std::filesystem::path& folder = ".");

}  // namespace stepcast::language
