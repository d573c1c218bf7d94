#pragma once

#include <cstddef>

namespace stepcast::app {

/// What stdout can show.
struct Terminal {
  std::size_t width = 120;  ///< columns: COLUMNS if it is set, else the terminal's, else 120
  bool is_one = false;      ///< stdout is a terminal that somebody sees
  bool colour = false;      ///< a terminal that is not dumb (TERM), and NO_COLOR (no-color.org) says nothing
  bool blocks = false;      ///< a terminal, and its locale has UTF-8: bars are of block characters, else of ASCII
};

Terminal terminal();

}  // namespace stepcast::app
