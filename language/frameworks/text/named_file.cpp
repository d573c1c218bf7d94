#include "language/frameworks/text/named_file.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "language/core/file_text.h"

namespace stepcast::language {
namespace {

/// The same in `folder` and those above it, up to the root of the repository.
std::optional<std::filesystem::path> file_above(const std::string& name, std::filesystem::path folder) {
  if (name.empty() || name.find('$') != name.npos || name.starts_with('/') || name.starts_with('~'))
    return std::nullopt;
  std::error_code error;
  while (folder != folder.parent_path()) {
    if (std::filesystem::is_regular_file(folder / name, error)) return shown_path(folder / name);
    if (std::filesystem::exists(folder / ".git", error)) return std::nullopt;
    folder = folder.parent_path();
  }
  return std::nullopt;
}

/// The folder of a script, from where stepcast was started, or from the root of the file system.
std::filesystem::path folder_of(const std::string& script) {
  std::error_code error;
  return std::filesystem::absolute(script, error).lexically_normal().parent_path();
}

std::size_t times_in(std::string_view text, std::string_view word) {
  std::size_t times = 0;
  for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + word.size())) ++times;
  return times;
}

/// How many folders above that of the script a text names: "$(cd "$(dirname "$0")/.." && pwd)". Nothing: it names
/// another.
std::optional<std::size_t> folders_up(std::string text) {
  constexpr std::string_view kNull = "/dev/null";
  for (std::size_t at = text.find(kNull); at != text.npos; at = text.find(kNull)) text.erase(at, kNull.size());
  const std::size_t names = times_in(text, "dirname") + times_in(text, "%/*}");
  if (names == 0 && text.find("BASH_SOURCE") == text.npos) return std::nullopt;
  for (std::size_t at = text.find('/'); at != text.npos; at = text.find('/', at + 1))
    if (at + 1 < text.size() && (std::isalnum(static_cast<unsigned char>(text[at + 1])) != 0 || text[at + 1] == '_'))
      return std::nullopt;  // a folder below
  return times_in(text, "..") + std::max<std::size_t>(names, 1) - 1;
}

}  // namespace

std::optional<std::filesystem::path> file_near(const std::string& name, const std::string& configuration) {
  return file_above(name, folder_of(configuration));
}

std::string why_not_sourced(const std::string& word) {
  if (word.starts_with('/') || word.starts_with('~')) return "what stands elsewhere on this machine is not read.";
  if (word.find_first_of("$`") != word.npos)
    return "no file is known that is named so beside the script, or in a folder above.";
  return "no such file stands beside the script, or in a folder above.";
}

std::optional<SourcedFile> sourced_file(const std::string& word, const std::string& script) {
  constexpr std::size_t kMost = std::size_t{1} << 20;
  std::string name = word;
  std::filesystem::path folder = folder_of(script);
  if (const std::size_t end = name.find_last_of(")}`"); end != name.npos) {
    const std::optional<std::size_t> up = folders_up(name.substr(0, end + 1));
    if (!up || !name.substr(end + 1).starts_with('/')) return std::nullopt;
    for (std::size_t i = 0; i < *up; ++i) folder = folder.parent_path();
    name.erase(0, end + 2);
  }
  const std::optional<std::filesystem::path> path = file_above(name, folder);
  if (!path) return std::nullopt;
  return SourcedFile{path->string(), read_file(*path, path->string(), kMost)};
}

}  // namespace stepcast::language
