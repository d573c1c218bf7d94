#pragma once

#include <filesystem>

namespace stepcast::language {

/// Whether a file of that name holds one scenario where it is named: YAML, and JSON, which is YAML too. In a folder
/// JSON is not a scenario's.
inline bool is_scenario_file(const std::filesystem::path& file) {
  const std::filesystem::path ending = file.extension();
  return ending == ".yaml" || ending == ".yml" || ending == ".json";
}

}  // namespace stepcast::language
