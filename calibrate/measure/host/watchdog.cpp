#include "calibrate/measure/host/watchdog.h"

#include <chrono>
#include <utility>

namespace stepcast::measure {

Watchdog::Watchdog(std::function<void(const std::string&)> bark, std::function<double()> now)
    : bark_(std::move(bark)), now_(std::move(now)), thread_([this] { watch(); }) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Watchdog::expect(std::string what, double seconds) {
  const std::lock_guard lock(mutex_);
  what_ = std::move(what);
  until_ = now_() + seconds;
}

void Watchdog::rest() {
  const std::lock_guard lock(mutex_);
  until_ = 0;
}

void Watchdog::watch() {
  constexpr auto kLook = std::chrono::milliseconds(200);
  std::unique_lock lock(mutex_);
  while (!over_) {
    if (until_ > 0 && now_() > until_) {
      until_ = 0;
      const std::string what = what_;
      lock.unlock();
      bark_(what);
      lock.lock();
      continue;
    }
    changed_.wait_for(lock, kLook);
  }
}

}  // namespace stepcast::measure
