#pragma once

#include <filesystem>
#include <string_view>

namespace stepcast::app {

/// Writes all of `content` to an open file, a pipe that does not block included. False where the system refuses; errno
/// says why.
bool write_all(int file, std::string_view content);

/// Throws std::runtime_error with the file, or that it is standard output, and the system's reason, an errno.
[[noreturn]] void cannot_write(const std::filesystem::path& file, int reason);

}  // namespace stepcast::app
