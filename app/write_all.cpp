#include "app/write_all.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <system_error>

#include "language/core/streams.h"

namespace stepcast::app {

bool write_all(int file, std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = write(file, content.data(), content.size());
    if (written >= 0) {
      content.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN) {  // a pipe that another program made not to block
      pollfd ready{file, POLLOUT, 0};
      poll(&ready, 1, -1);
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

void cannot_write(const std::filesystem::path& file, int reason) {
  const bool standard = language::descriptor_named(file) == STDOUT_FILENO;
  throw std::runtime_error("cannot write " + (standard ? "standard output" : file.string()) + ": " +
                           std::generic_category().message(reason));
}

}  // namespace stepcast::app
