#include "app/report/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <string>
#include <string_view>

#include "app/modules/mpi_launcher.h"

namespace stepcast::app {
namespace {

/// What the environment says, or nothing.
std::string_view said(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

/// By the names of locales: the first of these that says something is the one that counts (POSIX).
bool locale_has_utf_8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"})
    if (const std::string_view locale = said(name); !locale.empty()) {
      const std::size_t dot = locale.find('.');
      std::string codeset(dot == locale.npos ? std::string_view() : locale.substr(dot + 1));
      std::erase(codeset, '-');
      for (char& letter : codeset) letter = letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter + 32) : letter;
      return codeset.starts_with("utf8");
    }
  return false;
}

}  // namespace

Terminal terminal() {
  Terminal out;
  // MPI's launchers give the processes that they start terminals that nobody sees.
  out.is_one = isatty(STDOUT_FILENO) != 0 && !is_launched_by_mpi();
  if (out.is_one) {
    out.colour = said("NO_COLOR").empty() && said("TERM") != "dumb";
    out.blocks = locale_has_utf_8();
    winsize size{};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) out.width = size.ws_col;
  }
  if (const std::string_view text = said("COLUMNS"); !text.empty()) {
    std::size_t width = 0;
    if (std::from_chars(text.data(), text.data() + text.size(), width).ec == std::errc{} && width > 0)
      out.width = width;
  }
  return out;
}

}  // namespace stepcast::app
