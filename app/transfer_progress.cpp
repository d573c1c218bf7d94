#include "app/transfer_progress.h"

#include <fmt/format.h>

namespace stepcast::app {

TransferProgress::TransferProgress()
    : line_([this](double) {
        return tasks_ == 0 ? std::string("making the tasks of the step")
                           : fmt::format("{} of {} tasks, of which {} are transfers", ended_.load(), tasks_.load(),
                                         transfers_.load());
      }) {}

workload::WatchLowered TransferProgress::watch() {
  return [this, before = std::size_t{0}](const workload::Lowered& program, std::size_t ended) mutable {
    if (ended == 0) {
      tasks_ += program.tasks;
      transfers_ += program.transfers;
      before = 0;
    }
    ended_ += ended - before;
    before = ended;
  };
}

}  // namespace stepcast::app
