#pragma once

#include <cstddef>
#include <mutex>

#include "workload/lowered.h"

namespace stepcast::app {

/// How far steps are that are simulated transfer by transfer: one line on stderr that is written over, if that is a
/// terminal. Before the first task has ended it says how many there are. For forecasts that run at the same time.
class TransferProgress {
 public:
  TransferProgress();
  ~TransferProgress();
  TransferProgress(const TransferProgress&) = delete;
  TransferProgress& operator=(const TransferProgress&) = delete;

  /// What one forecast tells. It must not outlive this.
  workload::WatchLowered watch();

 private:
  void show(const workload::Lowered& program, std::size_t before, std::size_t ended);

  const bool shown_;
  std::mutex mutex_;
  workload::Lowered all_;
  std::size_t ended_ = 0;
};

}  // namespace stepcast::app
