#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace stepcast::app {

/// Says on the terminal that a command is at work, and for how long: "forecasting, 5 s", on one line that is written
/// over. Nothing for the first two seconds, and nothing where standard error is no terminal. The line is gone when this
/// is: before a command prints its answer.
class ElapsedLine {
 public:
  explicit ElapsedLine(std::string what);
  ~ElapsedLine();
  ElapsedLine(const ElapsedLine&) = delete;
  ElapsedLine& operator=(const ElapsedLine&) = delete;

 private:
  void tell();

  const std::string what_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool end_ = false;
  std::thread teller_;
};

}  // namespace stepcast::app
