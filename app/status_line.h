#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace stepcast::app {

/// Says on standard error that a command is at work, and how far it is. On a terminal: one line, from two seconds on,
/// that is written over, and is gone when this is: before a command prints its answer. Elsewhere, in the log of a batch
/// job: a line every 30 seconds, and one at the end if there was any before. The variable STEPCAST_PROGRESS says how
/// many seconds there are before the first line and between them instead; "none": there are no lines.
class StatusLine {
 public:
  /// `text`: what the line says after so many seconds. It is called from a thread of this one's, at any time.
  explicit StatusLine(std::function<std::string(double seconds)> text);
  /// "forecasting, 5 s".
  explicit StatusLine(const std::string& what);
  ~StatusLine();
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  using Seconds = std::chrono::duration<double>;

  void tell();
  void tell_now_and_then();

  const std::function<std::string(double)> text_;
  const Clock::time_point start_ = Clock::now();
  const bool on_terminal_;
  Seconds patience_{}, between_{};
  bool told_ = false;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool end_ = false;
  std::thread teller_;  ///< none: nobody wants lines
};

/// What `work` returns; a status line says `what` meanwhile.
template <class Work>
auto said_meanwhile(const std::string& what, Work work) {
  const StatusLine line(what);
  return work();
}

/// "9 s", "4 min", "3.2 h".
std::string rough_time(double seconds);

}  // namespace stepcast::app
