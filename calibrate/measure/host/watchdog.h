#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "calibrate/measure/host/time_limit.h"

namespace stepcast::measure {

/// Looks after a process whose threads may stand in calls that never return: a thread of its own that calls `bark`
/// once, with what was being done, when that takes longer than it may.
class Watchdog {
 public:
  explicit Watchdog(std::function<void(const std::string&)> bark, std::function<double()> now = steady_seconds);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  /// What begins now, and how long it may take.
  void expect(std::string what, double seconds);
  /// It is done.
  void rest();

 private:
  void watch();

  std::function<void(const std::string&)> bark_;
  std::function<double()> now_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string what_;
  double until_ = 0;  ///< 0: nothing is expected
  bool over_ = false;
  std::thread thread_;
};

}  // namespace stepcast::measure
