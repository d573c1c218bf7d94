#include "app/progress.h"

#include <fmt/format.h>

namespace stepcast::app {

Progress::Progress(std::size_t all, std::size_t begun)
    : done_(begun), line_([=, this](double seconds) { return progress_text(done_, all, begun, seconds); }) {}

std::string progress_text(std::size_t done, std::size_t all, std::size_t begun, double seconds) {
  std::string count = fmt::format("{} of {}", done, all);
  if (seconds <= 0 || done == begun) return count;
  const double rate = static_cast<double>(done - begun) / seconds;
  const double left = static_cast<double>(all - done) / rate;
  return fmt::format("{}, {} a second, {} left", count,
                     rate < 10 ? fmt::format("{:.2g}", rate) : fmt::format("{:.0f}", rate), rough_time(left));
}

}  // namespace stepcast::app
