#pragma once

#include <atomic>
#include <cstddef>

#include "app/status_line.h"
#include "workload/lowered.h"

namespace stepcast::app {

/// How far steps are that are simulated transfer by transfer. For forecasts that run at the same time.
class TransferProgress {
 public:
  TransferProgress();

  /// What one forecast tells. It must not outlive this.
  workload::WatchLowered watch();

 private:
  std::atomic<std::size_t> tasks_ = 0, transfers_ = 0, ended_ = 0;
  StatusLine line_;
};

}  // namespace stepcast::app
