#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "calibrate/measure/host/step_case.h"
#include "calibrate/measure/step/peers.h"

namespace stepcast::measure {

/// All ranks of a step as threads of this process, in place of NCCL. A call returns when all whom it concerns have made
/// theirs; after a minute of waiting it throws, since ranks then wait for one another.
class ThreadRanks {
 public:
  explicit ThreadRanks(const StepCase& step);
  ~ThreadRanks();
  Peers& peers(int rank);

 private:
  class Rank;
  struct Meeting {  // one group's calls, one after the other
    std::vector<void*> data;
    std::size_t rounds = 0;
  };
  struct Posted {
    const Message* message;
    bool* done;
  };
  /// Waits until all `members` are here; the last of them combines what they brought, by place in the group.
  template <class Combine>
  void meet(const std::vector<int>& members, int place, void* data, const Combine& combine);
  void exchange(int rank, const std::vector<Message>& messages, const std::vector<int>& rank_of_stage);
  template <class Condition>
  void wait(std::unique_lock<std::mutex>& lock, const Condition& condition);

  StepCase step_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::vector<int>, Meeting> meetings_;
  std::map<std::pair<int, int>, std::deque<Posted>> sends_, receives_;  // from rank, to rank
  std::vector<std::unique_ptr<Rank>> ranks_;
};

}  // namespace stepcast::measure
