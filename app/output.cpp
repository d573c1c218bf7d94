#include "app/output.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <system_error>

#include "app/read/nearest.h"
#include "sim/input_error.h"

namespace stepcast::app {

Format parse_format(const std::string& word) {
  constexpr std::array<std::string_view, 3> names{"table", "json", "csv"};
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i] == word) return static_cast<Format>(i);
  throw InputError("--format", "found '" + word + "', expected " + one_of(word, names));
}

void write_files(std::span<const NewFile> files) {
  const auto temporary = [](const NewFile& file) {
    return file.path.string() + "." + std::to_string(getpid()) + ".tmp";
  };
  const auto failed = [&](const std::string& what, const NewFile& file) {
    const std::string reason = std::generic_category().message(errno);
    std::error_code ignored;
    for (const NewFile& each : files) std::filesystem::remove(temporary(each), ignored);
    throw std::runtime_error(what + " " + file.path.string() + ": " + reason);
  };
  for (const NewFile& file : files) {
    if (std::error_code ignored; std::filesystem::is_directory(file.path, ignored)) {
      errno = EISDIR;
      failed("cannot write", file);
    }
    std::ofstream stream(temporary(file), std::ios::binary);
    if (!stream) failed("cannot write", file);
    stream << file.content;
    stream.close();
    if (!stream) failed("cannot write", file);
  }
  for (const NewFile& file : files)
    if (std::rename(temporary(file).c_str(), file.path.c_str()) != 0) failed("cannot rename to", file);
}

void write_file(const std::filesystem::path& path, const std::string& content) {
  const NewFile file{path, content};
  write_files({&file, 1});
}

void write_output(const std::string& path, const std::string& content) {
  if (path.empty()) {
    std::fwrite(content.data(), 1, content.size(), stdout);
    if (std::fflush(stdout) != 0) throw std::runtime_error("cannot write to standard output");
  } else {
    write_file(path, content);
  }
}

}  // namespace stepcast::app
