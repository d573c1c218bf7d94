#include "app/status_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string_view>
#include <system_error>
#include <utility>

namespace stepcast::app {
namespace {

constexpr double kPatienceOfTerminal = 2, kPatienceOfLog = 30, kBetweenOnTerminal = 0.2;

/// Of STEPCAST_PROGRESS. Nothing: it says no number.
std::string_view progress_asked() {
  const char* said = std::getenv("STEPCAST_PROGRESS");
  return said == nullptr ? std::string_view() : std::string_view(said);
}

}  // namespace

std::string rough_time(double seconds) {
  if (seconds < 100) return fmt::format("{:.0f} s", seconds);
  if (seconds < 6000) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

StatusLine::StatusLine(const std::string& what)
    : StatusLine([what](double seconds) { return fmt::format("{}, {}", what, rough_time(seconds)); }) {}

StatusLine::StatusLine(std::function<std::string(double seconds)> text)
    : text_(std::move(text)), on_terminal_(isatty(STDERR_FILENO) != 0) {
  const std::string_view asked = progress_asked();
  if (asked == "none") return;
  double seconds = on_terminal_ ? kPatienceOfTerminal : kPatienceOfLog;
  std::from_chars(asked.data(), asked.data() + asked.size(), seconds);
  patience_ = Seconds(std::clamp(seconds, 0.0, 1e6));
  between_ = Seconds(on_terminal_ ? kBetweenOnTerminal : std::max(patience_.count(), kBetweenOnTerminal));
  try {
    teller_ = std::thread([this] { tell_now_and_then(); });
  } catch (const std::system_error&) {  // no more threads are to be had: a command works without lines too
  }
}

StatusLine::~StatusLine() {
  if (!teller_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    end_ = true;
  }
  ended_.notify_one();
  teller_.join();
  if (Clock::now() - start_ >= patience_ && (!told_ || !on_terminal_)) tell();
  if (on_terminal_ && told_) std::fputs("\r\033[K", stderr);
}

void StatusLine::tell() {
  try {
    const std::string line = text_(Seconds(Clock::now() - start_).count());
    std::fprintf(stderr, on_terminal_ ? "\r\033[K%s" : "%s\n", line.c_str());
    told_ = true;
  } catch (const std::bad_alloc&) {  // the command itself says that memory is out
  }
}

void StatusLine::tell_now_and_then() {
  std::unique_lock lock(mutex_);
  if (ended_.wait_for(lock, patience_, [this] { return end_; })) return;
  do tell();
  while (!ended_.wait_for(lock, between_, [this] { return end_; }));
}

}  // namespace stepcast::app
