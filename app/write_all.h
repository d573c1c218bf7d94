#pragma once

#include <string_view>

namespace stepcast::app {

/// Writes all of `content` to an open file, a pipe that does not block included. False where the system refuses; errno
/// says why.
bool write_all(int file, std::string_view content);

}  // namespace stepcast::app
