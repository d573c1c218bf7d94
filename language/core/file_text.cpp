#include "language/core/file_text.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <system_error>
#include <vector>

#include "language/core/nearest.h"
#include "language/core/streams.h"
#include "language/core/tree.h"
#include "language/core/visible_text.h"
#include "sim/input_error.h"

namespace stepcast::language {
namespace {

/// Of a path, or of a descriptor that is open already.
Descriptor open_to_read(const std::filesystem::path& path) {
  const std::optional<int> open_one = descriptor_named(path);
  return Descriptor(open_one ? fcntl(*open_one, F_DUPFD_CLOEXEC, 0)
                             : open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
}

}  // namespace

std::string read_file(const std::filesystem::path& path, const std::string& shown, std::size_t most) {
  const auto failed = [&] { throw InputError(shown, "cannot be read: " + std::generic_category().message(errno)); };
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::not_found) throw InputError(shown, "no such file");
  if (std::filesystem::is_directory(status)) throw InputError(shown, "found a directory, expected a file");
  const Descriptor file = open_to_read(path);
  if (!file) failed();
  std::string text;
  for (std::vector<char> block(std::size_t{1} << 16);;) {
    const ssize_t got = read(file.number(), block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) failed();
    if (got == 0) return text;
    text.append(block.data(), static_cast<std::size_t>(got));
    if (text.size() > most)
      throw InputError(shown, "found more than " + std::to_string(most >> 20) + " MiB, expected a smaller file");
  }
}

std::string_view checked_text(std::string_view text, const std::string& file) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) throw InputError(file, "the file is empty");
  Place place{file, 1, 1};
  for (std::size_t i = 0; i < text.size(); ++place.column) {
    if (text[i] == '\0') throw InputError(language::text(place), "found a NUL byte, expected text");
    const std::size_t length = utf8_length(text.substr(i, 4));
    if (length == 0) throw InputError(language::text(place), "found bytes that are not UTF-8, expected UTF-8 text");
    if (text[i] == '\n') place = {file, place.line + 1, 0};
    i += length;
  }
  return text;
}

std::string did_you_mean(const std::filesystem::path& missing) {
  const std::filesystem::path folder = missing.has_parent_path() ? missing.parent_path() : ".";
  std::vector<std::string> names;
  std::error_code error;
  if (const std::filesystem::path to = std::filesystem::read_symlink(missing, error); !error)
    return "; it is a link to '" + to.string() + "', which is not there";
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::filesystem::path ending = entry.path().extension();
    const bool fits = ending == ".yaml" || ending == ".yml" || ending == ".csv" || entry.is_directory(error);
    if (fits && entry.exists(error)) names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  const std::vector<std::string_view> views(names.begin(), names.end());
  const std::string_view near = nearest(missing.filename().string(), views);
  return near.empty() ? "" : "; did you mean '" + shown_path(folder / near) + "'?";
}

std::string shown_path(const std::filesystem::path& path) {
  if (descriptor_named(path)) return path.string();
  if (path.is_relative()) return path.lexically_normal().string();
  std::error_code error;
  const std::filesystem::path relative =
      path.lexically_normal().lexically_relative(std::filesystem::current_path(error));
  if (relative.empty() || *relative.begin() == "..") return path.lexically_normal().string();
  return relative.string();
}

}  // namespace stepcast::language
