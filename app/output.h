#pragma once

#include <filesystem>
#include <string>

namespace stepcast::app {

enum class Format : char { table, json, csv };

/// Throws InputError("--format", ...) for another word.
Format parse_format(const std::string& word);

/// Writes to a temporary file beside `path`, then renames: readers see the old file or all of the new one. Throws
/// std::runtime_error with the file and the system's reason.
void write_file(const std::filesystem::path& path, const std::string& content);

/// To `path`, or to stdout where it is empty.
void write_output(const std::string& path, const std::string& content);

}  // namespace stepcast::app
