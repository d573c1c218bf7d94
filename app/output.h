#pragma once

#include <filesystem>
#include <span>
#include <string>

namespace stepcast::app {

struct NewFile {
  std::filesystem::path path;  ///< empty or "-": standard output
  std::string content;
};

/// Writes all of them, or none where one cannot be written. What is no regular file (a device, a pipe, an open
/// descriptor) is written through, after all that can be taken back. A regular file is replaced whole, so that readers
/// see the old text or all of the new one: links are followed, its mode and owner stay. It is written in place where
/// replacing it would lose something (other hard links, extended attributes, its owner) or is not allowed.
/// Throws std::runtime_error with the file and the system's reason. Where a pipe's reader is gone, SIGPIPE ends the
/// program as it ends others, unless that is ignored, and nothing is left behind.
void write_files(std::span<const NewFile> files);

/// Whether what is written to it goes to standard output.
bool is_stdout(const std::string& path);

/// The same for one; `path` empty: standard output.
void write_output(const std::string& path, const std::string& content);

}  // namespace stepcast::app
