#include "app/report/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <string_view>

#include "app/modules/mpi_launcher.h"

namespace stepcast::app {
Terminal terminal() {
  Terminal out;
  // MPI's launchers give the processes that they start terminals that nobody sees.
  out.is_one = isatty(STDOUT_FILENO) != 0 && !is_launched_by_mpi();
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
