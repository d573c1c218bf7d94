#include "language/frameworks/text/named_file.h"

#include "language/core/file_text.h"

namespace stepcast::language {

std::optional<std::filesystem::path> file_near(const std::string& name, const std::string& configuration) {
  if (name.empty() || name.find('$') != name.npos || name.starts_with('/') || name.starts_with('~'))
    return std::nullopt;
  std::filesystem::path folder = std::filesystem::path(configuration).parent_path();
  while (true) {
    std::error_code error;
    std::filesystem::path path = folder / name;
    if (std::filesystem::is_regular_file(path, error)) return path;
    if (folder.empty() || folder == folder.parent_path()) return std::nullopt;
    folder = folder.parent_path();
  }
}

std::optional<SourcedFile> sourced_file(const std::string& word, const std::string& script) {
  constexpr std::size_t kMost = std::size_t{1} << 20;
  std::string name = word;
  if (const std::size_t end = name.find_last_of(")}`"); end != name.npos) {
    const bool is_folder_of_script =
        name.find("dirname") != name.npos || name.find("BASH_SOURCE") != name.npos || name.starts_with("${0%");
    if (!is_folder_of_script || !name.substr(end + 1).starts_with('/')) return std::nullopt;
    name.erase(0, end + 2);
  }
  const std::optional<std::filesystem::path> path = file_near(name, script);
  if (!path) return std::nullopt;
  return SourcedFile{path->string(), read_file(*path, path->string(), kMost)};
}

}  // namespace stepcast::language
