#include "app/read/file_text.h"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <vector>

#include "app/read/nearest.h"
#include "app/read/tree.h"
#include "sim/input_error.h"

namespace stepcast::app {
namespace {

constexpr std::size_t kLargestFile = 64u << 20;

/// Length of the UTF-8 sequence at the start of `text`; 0 where there is none (overlong and surrogates included).
std::size_t sequence_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4) return 0;
  unsigned code = first & (0xffu >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0u) != 0x80u) return 0;
    code = code << 6 | (byte(i) & 0x3fu);
  }
  constexpr unsigned kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kSmallest[length] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return 0;
  return length;
}

}  // namespace

std::string read_file(const std::filesystem::path& path, const std::string& shown) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) throw InputError(shown, "no such file");
  if (std::filesystem::is_directory(status)) throw InputError(shown, "found a directory, expected a file");
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw InputError(shown, "cannot be read");
  std::string text;
  for (char block[1 << 16]; stream.read(block, sizeof block) || stream.gcount() > 0;) {
    text.append(block, static_cast<std::size_t>(stream.gcount()));
    if (text.size() > kLargestFile) throw InputError(shown, "found more than 64 MiB, expected a smaller file");
  }
  return text;
}

std::string_view checked_text(std::string_view text, const std::string& file) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) throw InputError(file, "the file is empty");
  Place place{file, 1, 1};
  for (std::size_t i = 0; i < text.size(); ++place.column) {
    if (text[i] == '\0') throw InputError(app::text(place), "found a NUL byte, expected text");
    const std::size_t length = sequence_length(text.substr(i, 4));
    if (length == 0) throw InputError(app::text(place), "found bytes that are not UTF-8, expected UTF-8 text");
    if (text[i] == '\n') place = {file, place.line + 1, 0};
    i += length;
  }
  return text;
}

std::string did_you_mean(const std::filesystem::path& missing) {
  const std::filesystem::path folder = missing.has_parent_path() ? missing.parent_path() : ".";
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::filesystem::path ending = entry.path().extension();
    if (ending == ".yaml" || ending == ".yml" || ending == ".csv" || entry.is_directory(error)) {
      names.push_back(entry.path().filename().string());
    }
  }
  std::sort(names.begin(), names.end());
  const std::vector<std::string_view> views(names.begin(), names.end());
  const std::string_view near = nearest(missing.filename().string(), views);
  return near.empty() ? "" : "; did you mean '" + shown_path(folder / near) + "'?";
}

std::string shown_path(const std::filesystem::path& path) {
  if (path.is_relative()) return path.lexically_normal().string();
  std::error_code error;
  const std::filesystem::path relative =
      path.lexically_normal().lexically_relative(std::filesystem::current_path(error));
  if (relative.empty() || *relative.begin() == "..") return path.lexically_normal().string();
  return relative.string();
}

}  // namespace stepcast::app
