#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "language/core/library.h"
#include "language/core/tree.h"
#include "language/frameworks/framework.h"
#include "language/frameworks/text/shell_start.h"

namespace stepcast::language {

/// A scenario made of what starts a training.
struct ImportedScenario {
  std::string text;  ///< of its file
  Node tree;         ///< the same; the place of each value is that of what says it
};

/// What is wished of an import beside settings.
struct ImportOptions {
  /// Names of the configuration that are passed over, whatever they are; "--" in front of a flag may be left out.
  std::vector<std::string> ignored{};
  ShellStart start{};  ///< of a script
};

/// A framework's configuration as a scenario, with a comment on each line that says where it came
/// from or that it was assumed, and in front what of the configuration changes no forecast. `settings` are "key=value",
/// laid over it: what the configuration cannot say, machines for one. Throws InputError for a name that is not known,
/// with the nearest, for one that is and changes the answer but stands for nothing in a scenario, unless `settings`
/// give the key that takes its place, and for an ignored one that the configuration does not have. `folder`: where the
/// text will stand, which names files as they are from there.
ImportedScenario scenario_of_configuration(const Framework& framework, std::string_view text, const std::string& file,
                                           std::span<const std::string> settings, Library& library,
                                           const std::filesystem::path& folder = ".",
                                           const ImportOptions& options = {});

}  // namespace stepcast::language
