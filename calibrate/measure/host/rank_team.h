#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "calibrate/measure/host/time_limit.h"

namespace stepcast::measure {

/// A case that cannot be measured: a rank of it failed, or nothing moved for too long. The message names the first rank
/// that failed, what it did, and why.
struct CaseFailed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Ranks of this process that measure one case together, each in a thread of its own. Whatever a rank waits in through
/// this class ends once another rank has failed or the case has taken longer than `patience`: nobody waits for ever.
class RankTeam {
 public:
  /// `numbers`: what messages call the ranks, in their order here. `what` is done, as messages say it.
  RankTeam(std::vector<int> numbers, std::string what, double patience_s, std::function<double()> now = steady_seconds);

  /// Says what a rank is about to do: "ncclAllReduce of 1048576 bytes".
  void does(std::size_t rank, std::string what);
  /// A rank failed. The first one to say so is what the case failed of.
  void fail(std::size_t rank, const std::string& why);
  /// Throws CaseFailed where a rank has failed or the patience is over.
  void check(std::size_t rank);
  /// Waits until all ranks are here. Throws CaseFailed.
  void meet(std::size_t rank);
  /// Asks `done` until it says yes. Throws CaseFailed.
  template <class Done>
  void wait_until(std::size_t rank, const Done& done) {
    while (!done()) {
      check(rank);
      std::this_thread::yield();
    }
  }
  /// Runs a function for every rank, each in a thread of its own; `failed` once in the thread of each rank that did not
  /// come to its end. Throws CaseFailed when all have returned, where one failed.
  void run(const std::function<void(std::size_t)>& function, const std::function<void(std::size_t)>& failed);

 private:
  void check_locked(std::size_t rank);

  std::vector<int> numbers_;
  std::string what_;
  double patience_;
  std::function<double()> now_;
  double begin_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> doing_;
  std::string problem_;  ///< of the first rank that failed
  std::size_t here_ = 0, meetings_ = 0;
};

}  // namespace stepcast::measure
