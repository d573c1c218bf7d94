#include "app/elapsed_line.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <utility>

namespace stepcast::app {

ElapsedLine::ElapsedLine(std::string what) : what_(std::move(what)) {
  if (isatty(STDERR_FILENO) != 0) teller_ = std::thread([this] { tell(); });
}

ElapsedLine::~ElapsedLine() {
  if (!teller_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    end_ = true;
  }
  ended_.notify_one();
  teller_.join();
}

void ElapsedLine::tell() {
  constexpr std::chrono::seconds kPatience{2}, kBetween{1};
  const auto begin = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  if (ended_.wait_for(lock, kPatience, [this] { return end_; })) return;
  do {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - begin);
    std::fprintf(stderr, "\r\033[K%s, %lld s", what_.c_str(), static_cast<long long>(seconds.count()));
  } while (!ended_.wait_for(lock, kBetween, [this] { return end_; }));
  std::fputs("\r\033[K", stderr);
}

}  // namespace stepcast::app
