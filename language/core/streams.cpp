#include "language/core/streams.h"

#include <unistd.h>

#include <charconv>
#include <string_view>

namespace stepcast::language {

bool Descriptor::close() {
  const int number = std::exchange(number_, -1);
  return number < 0 || ::close(number) == 0;
}

std::optional<int> descriptor_named(const std::filesystem::path& path) {
  const std::string& name = path.native();
  if (name == kStandardInput) return STDIN_FILENO;
  if (name == kStandardOutput) return STDOUT_FILENO;
  if (name == "/dev/stderr") return STDERR_FILENO;
  for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!name.starts_with(folder)) continue;
    int number = 0;
    const char* const end = name.data() + name.size();
    const auto [stop, error] = std::from_chars(name.data() + folder.size(), end, number);
    if (error == std::errc{} && stop == end && number >= 0) return number;
  }
  return {};
}

bool is_stream(const std::filesystem::path& path) {
  if (descriptor_named(path)) return true;
  std::error_code error;
  return std::filesystem::is_other(path, error);
}

std::filesystem::path end_of_links(std::filesystem::path path) {
  constexpr int kMostLinks = 40;
  std::error_code error;
  for (int links = 0; links < kMostLinks && std::filesystem::is_symlink(path, error); ++links)
    path = path.parent_path() / std::filesystem::read_symlink(path, error);
  return path;
}

std::string input_named(const std::string& word) { return word == "-" ? kStandardInput : word; }

std::string output_named(const std::string& word) { return word == "-" ? kStandardOutput : word; }

}  // namespace stepcast::language
