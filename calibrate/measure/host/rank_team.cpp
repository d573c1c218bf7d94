#include "calibrate/measure/host/rank_team.h"

#include <chrono>
#include <utility>

namespace stepcast::measure {

RankTeam::RankTeam(std::vector<int> numbers, std::string what, double patience_s, std::function<double()> now)
    : numbers_(std::move(numbers)),
      what_(std::move(what)),
      patience_(patience_s),
      now_(std::move(now)),
      begin_(now_()),
      doing_(numbers_.size()) {}

void RankTeam::does(std::size_t rank, std::string what) {
  const std::lock_guard lock(mutex_);
  doing_[rank] = std::move(what);
}

void RankTeam::fail(std::size_t rank, const std::string& why) {
  {
    const std::lock_guard lock(mutex_);
    if (!problem_.empty()) return;
    problem_ = what_ + ": rank " + std::to_string(numbers_[rank]) +
               (doing_[rank].empty() ? "" : " in " + doing_[rank]) + ": " + why;
  }
  changed_.notify_all();
}

void RankTeam::check_locked(std::size_t rank) {
  if (problem_.empty() && now_() - begin_ > patience_) {
    problem_ = what_ + ": rank " + std::to_string(numbers_[rank]) +
               (doing_[rank].empty() ? "" : " in " + doing_[rank]) + ": not done after " +
               std::to_string(static_cast<long>(patience_)) + " s";
    changed_.notify_all();
  }
  if (!problem_.empty()) throw CaseFailed(problem_);
}

void RankTeam::check(std::size_t rank) {
  const std::lock_guard lock(mutex_);
  check_locked(rank);
}

void RankTeam::meet(std::size_t rank) {
  constexpr auto kLook = std::chrono::milliseconds(20);  // how often the clock is looked at
  std::unique_lock lock(mutex_);
  check_locked(rank);
  const std::size_t meeting = meetings_;
  if (++here_ == numbers_.size()) {
    here_ = 0;
    ++meetings_;
    changed_.notify_all();
    return;
  }
  while (meetings_ == meeting) {
    changed_.wait_for(lock, kLook);
    if (meetings_ == meeting) check_locked(rank);
  }
}

void RankTeam::run(const std::function<void(std::size_t)>& function, const std::function<void(std::size_t)>& failed) {
  std::vector<std::thread> threads;
  for (std::size_t rank = 0; rank < numbers_.size(); ++rank) {
    threads.emplace_back([&, rank] {
      try {
        function(rank);
      } catch (const std::exception& error) {
        fail(rank, error.what());
        failed(rank);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::lock_guard lock(mutex_);
  if (!problem_.empty()) throw CaseFailed(problem_);
}

}  // namespace stepcast::measure
