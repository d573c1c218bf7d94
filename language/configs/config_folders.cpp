#include "language/configs/config_folders.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <string_view>

#include "language/core/this_program.h"
#include "sim/input_error.h"

namespace stepcast::language {
namespace {

namespace fs = std::filesystem;

std::string_view variable(const char* name) {
  const char* const text = std::getenv(name);
  return text == nullptr ? "" : text;
}

bool is_folder(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

std::vector<fs::path> named_folders() {
  std::vector<fs::path> folders;
  for (std::string_view rest = variable("STEPCAST_CONFIGS"); !rest.empty();) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    const std::string folder(rest.substr(0, end));
    if (!folder.empty() && !is_folder(folder)) {
      throw InputError("STEPCAST_CONFIGS",
                       "found '" + folder + "', expected a folder (or several with ':' between them); there is none");
    }
    if (!folder.empty()) folders.emplace_back(folder);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return folders;
}

/// As the XDG base directory specification says: a relative path in the variable does not count.
fs::path own_folder() {
  const fs::path set(variable("XDG_CONFIG_HOME")), home(variable("HOME"));
  if (set.is_absolute()) return set / "stepcast/configs";
  return home.is_absolute() ? home / ".config/stepcast/configs" : fs::path();
}

}  // namespace

/// Installed the program lies in bin/ beside share/, built in the folder that has a link of that name to the source's
/// configs, tests below it.
std::optional<fs::path> found_library_folder() {
  const fs::path program = this_program();
  for (fs::path folder = program.parent_path();; folder = folder.parent_path()) {
    const fs::path configs = folder / "share/stepcast/configs";
    if (is_folder(configs)) return fs::canonical(configs);
    if (folder == folder.parent_path()) return {};
  }
}

std::vector<fs::path> config_folders() {
  std::vector<fs::path> folders = named_folders();
  if (const fs::path own = own_folder(); !own.empty() && is_folder(own)) folders.push_back(own);
  if (const std::optional<fs::path> library = found_library_folder(); library || folders.empty())
    folders.push_back(library ? *library : library_folder());
  return folders;
}

fs::path library_folder() {
  if (const std::optional<fs::path> folder = found_library_folder()) return *folder;
  throw std::runtime_error("the library's configs are not in share/stepcast/configs beside the program " +
                           this_program().string() +
                           ", nor beside a folder that it is in; STEPCAST_CONFIGS may name them");
}

fs::path config_file(const fs::path& file) {
  const std::vector<fs::path> folders = config_folders();
  for (const fs::path& folder : folders) {
    std::error_code error;
    if (fs::exists(folder / file, error)) return folder / file;
  }
  return folders.back() / file;
}

}  // namespace stepcast::language
