#include "app/transfer_progress.h"

#include <unistd.h>

#include <cstdio>

namespace stepcast::app {

TransferProgress::TransferProgress() : shown_(isatty(STDERR_FILENO) != 0) {}

TransferProgress::~TransferProgress() {
  if (shown_ && all_.tasks > 0) std::fputs("\r\033[K", stderr);
}

workload::WatchLowered TransferProgress::watch() {
  if (!shown_) return [](const workload::Lowered&, std::size_t) {};
  return [this, before = std::size_t{0}](const workload::Lowered& program, std::size_t ended) mutable {
    show(program, ended == 0 ? 0 : before, ended);
    before = ended;
  };
}

void TransferProgress::show(const workload::Lowered& program, std::size_t before, std::size_t ended) {
  const std::lock_guard lock(mutex_);
  if (ended == 0) {
    all_.tasks += program.tasks;
    all_.transfers += program.transfers;
  }
  ended_ += ended - before;
  std::fprintf(stderr, "\r\033[K%zu of %zu tasks, of which %zu are transfers", ended_, all_.tasks, all_.transfers);
}

}  // namespace stepcast::app
