#pragma once

#include <filesystem>
#include <optional>
#include <vector>

namespace stepcast::language {

/// The folders that hold files of configs/, the first one with a file of a name wins: those of STEPCAST_CONFIGS (with
/// ':' between them), the user's own ($XDG_CONFIG_HOME/stepcast/configs, by default ~/.config/stepcast/configs), and
/// the library's, which may be missing where there are others. Throws InputError where STEPCAST_CONFIGS names a folder
/// that is not there.
std::vector<std::filesystem::path> config_folders();

/// The library's own: share/stepcast/configs in the folder of the program, or in one that that is in; none where
/// there is no such folder.
std::optional<std::filesystem::path> found_library_folder();
/// The same; throws std::runtime_error where there is none.
std::filesystem::path library_folder();

/// The first of config_folders() that holds `file` ("residuals.csv"); where none does, the library's, without the file.
std::filesystem::path config_file(const std::filesystem::path& file);

}  // namespace stepcast::language
