#include "thread_peers.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <stdexcept>

namespace stepcast::measure {
namespace {

template <class T>
void sum(const std::vector<void*>& data, std::int64_t elements) {
  for (std::int64_t i = 0; i < elements; ++i) {
    float total = 0;
    for (void* const of : data) total += to_float(static_cast<T*>(of)[i]);
    for (void* const of : data) static_cast<T*>(of)[i] = from_float<T>(total);
  }
}

}  // namespace

class ThreadRanks::Rank : public Peers {
 public:
  Rank(ThreadRanks& all, int rank) : all_(all), rank_(rank), at_(step_rank(all.step_, rank)) {}

  void all_reduce(RankGroup group, void* data, std::int64_t elements, Number number, cudaStream_t) override {
    const std::vector<int> members = group_of(group);
    all_.meet(members, place_in(members), data, [&](const std::vector<void*>& of) {
      number == Number::fp32 ? sum<float>(of, elements) : sum<bf16>(of, elements);
    });
  }
  void all_gather(float* data, std::int64_t elements, cudaStream_t) override {
    const std::vector<int> members = group_of(RankGroup::tensor);
    all_.meet(members, place_in(members), data, [&](const std::vector<void*>& of) {
      for (std::size_t from = 0; from < of.size(); ++from) {
        const std::int64_t at = static_cast<std::int64_t>(from) * elements;
        for (std::size_t to = 0; to < of.size(); ++to) {
          if (from == to) continue;
          std::copy_n(static_cast<float*>(of[from]) + at, elements, static_cast<float*>(of[to]) + at);
        }
      }
    });
  }
  void exchange(const std::vector<Message>& messages, cudaStream_t) override {
    std::vector<int> of_stage;
    for (int stage = 0; stage < all_.step_.pipeline; ++stage) of_stage.push_back(rank_of(at_.tensor, at_.data, stage));
    all_.exchange(rank_, messages, of_stage);
  }

 private:
  int rank_of(int tensor, int data, int stage) const {
    return tensor + all_.step_.tensor * (data + all_.step_.data * stage);
  }
  std::vector<int> group_of(RankGroup group) const {
    std::vector<int> members;
    const StepCase& s = all_.step_;
    if (group == RankGroup::tensor)
      for (int t = 0; t < s.tensor; ++t) members.push_back(rank_of(t, at_.data, at_.stage));
    if (group == RankGroup::data)
      for (int d = 0; d < s.data; ++d) members.push_back(rank_of(at_.tensor, d, at_.stage));
    if (group == RankGroup::tied)
      for (const int stage : {0, s.pipeline - 1}) members.push_back(rank_of(at_.tensor, at_.data, stage));
    return members;
  }
  int place_in(const std::vector<int>& members) const {
    return static_cast<int>(std::find(members.begin(), members.end(), rank_) - members.begin());
  }

  ThreadRanks& all_;
  int rank_;
  StepRank at_;
};

ThreadRanks::ThreadRanks(const StepCase& step) : step_(step) {
  for (int rank = 0; rank < step.gpus(); ++rank) ranks_.push_back(std::make_unique<Rank>(*this, rank));
}
ThreadRanks::~ThreadRanks() = default;
Peers& ThreadRanks::peers(int rank) { return *ranks_.at(static_cast<std::size_t>(rank)); }

template <class Condition>
void ThreadRanks::wait(std::unique_lock<std::mutex>& lock, const Condition& condition) {
  if (!changed_.wait_for(lock, std::chrono::minutes(1), condition))
    throw std::runtime_error("ranks wait for one another");
}

template <class Combine>
void ThreadRanks::meet(const std::vector<int>& members, int place, void* data, const Combine& combine) {
  std::unique_lock lock(mutex_);
  Meeting& meeting = meetings_[members];
  meeting.data.resize(members.size());
  meeting.data[static_cast<std::size_t>(place)] = data;
  const std::size_t round = meeting.rounds;
  if (std::count(meeting.data.begin(), meeting.data.end(), nullptr) == 0) {
    combine(meeting.data);
    std::fill(meeting.data.begin(), meeting.data.end(), nullptr);
    ++meeting.rounds;
    changed_.notify_all();
  } else {
    wait(lock, [&] { return meeting.rounds != round; });
  }
}

void ThreadRanks::exchange(int rank, const std::vector<Message>& messages, const std::vector<int>& rank_of_stage) {
  std::unique_lock lock(mutex_);
  const auto done = std::make_unique<bool[]>(messages.size());
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const Message& m = messages[i];
    const int other = rank_of_stage.at(static_cast<std::size_t>(m.stage));
    const std::pair<int, int> way = m.send ? std::pair{rank, other} : std::pair{other, rank};
    (m.send ? sends_ : receives_)[way].push_back({&m, &done[i]});
    auto &sends = sends_[way], &receives = receives_[way];
    if (sends.empty() || receives.empty()) continue;
    const Posted from = sends.front(), to = receives.front();
    sends.pop_front();
    receives.pop_front();
    if (from.message->elements != to.message->elements) throw std::logic_error("messages of different sizes");
    std::memcpy(to.message->data, from.message->data, static_cast<std::size_t>(to.message->elements) * sizeof(bf16));
    *from.done = *to.done = true;
  }
  changed_.notify_all();
  wait(lock, [&] { return std::all_of(done.get(), done.get() + messages.size(), [](bool d) { return d; }); });
}

}  // namespace stepcast::measure
