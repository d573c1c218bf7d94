#pragma once

#include <cstddef>

namespace stepcast::app {

/// What stdout can show.
struct Terminal {
  std::size_t width = 120;  ///< columns: COLUMNS if it is set, else the terminal's, else 120
  bool is_one = false;      ///< stdout is a terminal that somebody sees
  bool colour = false;      ///< a terminal, and NO_COLOR (no-color.org) is not set
};

Terminal terminal();

}  // namespace stepcast::app
