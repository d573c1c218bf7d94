#pragma once

#include <atomic>
#include <cstddef>
#include <string>

#include "app/status_line.h"

namespace stepcast::app {

/// How far a command is that does many things of a kind: "1200 of 5184, 430 a second, 9 s left". Safe from any thread.
class Progress {
 public:
  /// `begun`: so many were done before, by another run.
  explicit Progress(std::size_t all, std::size_t begun = 0);

  void one_done() { ++done_; }

 private:
  std::atomic<std::size_t> done_;
  StatusLine line_;
};

/// The line after `seconds`: `begun` of `all` were done before them, `done` are now.
std::string progress_text(std::size_t done, std::size_t all, std::size_t begun, double seconds);

}  // namespace stepcast::app
