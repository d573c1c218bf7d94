#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "calibrate/measure/host/time_limit.h"

namespace stepcast::measure {

/// Exit status of a process that its own watchdog ended.
inline constexpr int kHung = 5;

/// How long a process may be at one case: the process ends itself at the first of these, and whoever started it ends it
/// at the second.
inline constexpr double kCasePatience = 120, kWatchdogPatience = 180, kChildPatience = 300;

struct Supervision {
  std::filesystem::path folder;  ///< of the bundle: its journal, and refused.csv
  std::string run;
  double patience_s = kChildPatience;
  std::function<double()> now = steady_seconds;
  std::function<void(const std::string&)> say;
};

/// Runs a program that measures cases and writes a journal of them (case_journal.h), and starts it again for as long as
/// single cases end it: a case at which it died by a signal, hung, or gave up is added to refused.csv, which the
/// program passes over when it starts again. Returns the exit status of the last start; 128 + N for signal N. Throws
/// std::runtime_error where it cannot be started.
int supervise(const std::vector<std::string>& words, const Supervision& how);

}  // namespace stepcast::measure
