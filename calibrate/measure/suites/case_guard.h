#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "calibrate/measure/host/case_journal.h"
#include "calibrate/measure/host/refusals.h"
#include "calibrate/measure/host/watchdog.h"
#include "calibrate/measure/suites/process_group.h"

namespace stepcast::measure {

/// The cases of one suite, so that one which fails costs itself alone: its reason becomes a row of refused.csv, the
/// rest goes on, and a later start passes over it. A case that leaves the GPU unusable, or hangs, ends the process
/// after its reason was written; who supervises the process starts it again behind that case (host/supervise.h).
class CaseGuard {
 public:
  CaseGuard(const std::filesystem::path& folder, const std::string& run, std::string suite,
            const ProcessGroup& cluster);

  /// Whether it was refused before: what process 0 knows, in all.
  bool refused(const std::string& what) const;
  /// Runs `function`, which throws std::runtime_error where the case fails. All processes have to call it for the same
  /// case; where one fails, all take it as failed. Returns whether it was measured. `more_s`: how much longer
  /// than others it may take.
  bool measure(const std::string& what, const std::function<void()>& function, double more_s = 0);
  /// The case under way has come a part further: from now on it may take as long again, and `more_s` longer.
  void moved(double more_s);
  /// The case under way cannot be measured, and others wait for what will not come: says why and ends the process.
  [[noreturn]] void give_up(const std::string& why);
  /// The suite is over.
  void finish();

 private:
  std::string suite_;
  const ProcessGroup& cluster_;
  std::optional<Refusals> refusals_;    ///< of process 0
  std::optional<CaseJournal> journal_;  ///< likewise
  std::string what_;                    ///< the case under way
  Watchdog watchdog_;
};

}  // namespace stepcast::measure
