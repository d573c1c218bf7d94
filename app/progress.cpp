#include "app/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace stepcast::app {
namespace {

constexpr std::size_t kWorthProgress = 50;
constexpr std::chrono::milliseconds kBetweenLines{200};

/// "9 s", "4 min", "3.2 h".
std::string rough_time(double seconds) {
  if (seconds < 100) return fmt::format("{:.0f} s", seconds);
  if (seconds < 6000) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

}  // namespace

Progress::Progress(std::size_t all, std::size_t begun)
    : all_(all),
      begun_(begun),
      shown_(all >= kWorthProgress && isatty(STDERR_FILENO) != 0),
      done_(begun),
      next_(start_ + kBetweenLines) {}

Progress::~Progress() {
  if (shown_) std::fputs("\r\033[K", stderr);
}

void Progress::one_done() {
  if (!shown_) return;
  const std::lock_guard lock(mutex_);
  ++done_;
  const Clock::time_point now = Clock::now();
  if (now < next_) return;
  next_ = now + kBetweenLines;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  std::fprintf(stderr, "\r\033[K%s", progress_text(done_, all_, begun_, seconds).c_str());
}

std::string progress_text(std::size_t done, std::size_t all, std::size_t begun, double seconds) {
  std::string count = fmt::format("{} of {}", done, all);
  if (seconds <= 0 || done == begun) return count;
  const double rate = static_cast<double>(done - begun) / seconds;
  const double left = static_cast<double>(all - done) / rate;
  return fmt::format("{}, {} a second, {} left", count,
                     rate < 10 ? fmt::format("{:.2g}", rate) : fmt::format("{:.0f}", rate), rough_time(left));
}

}  // namespace stepcast::app
