#include "app/report/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <string_view>

namespace stepcast::app {
namespace {

/// MPI's launchers give the processes that they start terminals that nobody sees.
bool is_seen() {
  for (const char* const told : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"})
    if (std::getenv(told) != nullptr) return false;
  return isatty(STDOUT_FILENO) != 0;
}

}  // namespace

Terminal terminal() {
  Terminal out;
  out.is_one = is_seen();
  if (out.is_one) {
    out.colour = std::getenv("NO_COLOR") == nullptr;
    winsize size{};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) out.width = size.ws_col;
  }
  if (const char* columns = std::getenv("COLUMNS"); columns != nullptr) {
    const std::string_view text(columns);
    std::size_t width = 0;
    if (std::from_chars(text.data(), text.data() + text.size(), width).ec == std::errc{} && width > 0)
      out.width = width;
  }
  return out;
}

}  // namespace stepcast::app
