#include "language/frameworks/text/sourced_file.h"

#include "language/core/file_text.h"

namespace stepcast::language {

std::optional<SourcedFile> file_beside(const std::string& word, const std::string& script) {
  constexpr std::size_t kMost = std::size_t{1} << 20;
  std::string name = word;
  if (const std::size_t end = name.find_last_of(")}`"); end != name.npos) {
    const bool is_folder_of_script =
        name.find("dirname") != name.npos || name.find("BASH_SOURCE") != name.npos || name.starts_with("${0%");
    if (!is_folder_of_script || !name.substr(end + 1).starts_with('/')) return std::nullopt;
    name.erase(0, end + 2);
  }
  if (name.empty() || name.find('$') != name.npos || name.starts_with('/') || name.starts_with('~'))
    return std::nullopt;
  const std::filesystem::path path = std::filesystem::path(script).parent_path() / name;
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return std::nullopt;
  return SourcedFile{path.string(), read_file(path, path.string(), kMost)};
}

}  // namespace stepcast::language
