#pragma once

#include <chrono>
#include <cstddef>
#include <mutex>
#include <string>

namespace stepcast::app {

/// How far a command is, on one line of the terminal that is written over: "1200 of 5184, 430 a second, 9 s left".
/// Nothing is shown where standard error is no terminal, or for fewer than 50. Safe from any thread.
class Progress {
 public:
  /// `begun`: so many were done before, by another run.
  explicit Progress(std::size_t all, std::size_t begun = 0);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void one_done();

 private:
  using Clock = std::chrono::steady_clock;
  const std::size_t all_, begun_;
  const bool shown_;
  const Clock::time_point start_ = Clock::now();
  std::mutex mutex_;
  std::size_t done_;
  Clock::time_point next_;  ///< when the line is written again
};

/// The line after `seconds`: `begun` of `all` were done before them, `done` are now.
std::string progress_text(std::size_t done, std::size_t all, std::size_t begun, double seconds);

}  // namespace stepcast::app
