#pragma once

#include <filesystem>
#include <span>
#include <string>

namespace stepcast::app {

enum class Format : char { table, json, csv };

/// Throws InputError("--format", ...) for another word.
Format parse_format(const std::string& word);

struct NewFile {
  std::filesystem::path path;
  std::string content;
};

/// Writes each to a temporary file beside its path, then renames them: readers see the old file or all of the new one,
/// and where one cannot be written none is. Throws std::runtime_error with the file and the system's reason.
void write_files(std::span<const NewFile> files);

/// The same for one.
void write_file(const std::filesystem::path& path, const std::string& content);

/// To `path`, or to stdout where it is empty.
void write_output(const std::string& path, const std::string& content);

}  // namespace stepcast::app
