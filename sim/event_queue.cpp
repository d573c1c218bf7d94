#include "sim/event_queue.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace stepcast::sim {
namespace {

constexpr auto kLater = [](const auto& a, const auto& b) { return a.at > b.at; };

}  // namespace

EventQueue::EventQueue() : buckets_(1), table_(64) {}

/// Where `at` is in the table, or the free place where it would go.
std::size_t EventQueue::slot(Time at) const {
  const std::size_t mask = table_.size() - 1;
  const std::uint64_t mixed = static_cast<std::uint64_t>(at.value) * 0x9e3779b97f4a7c15u;
  std::size_t place = static_cast<std::size_t>(mixed >> 32) & mask;
  while (table_[place].bucket != kNone && table_[place].at != at) place = (place + 1) & mask;
  return place;
}

/// The bucket of a time, made if there is none.
std::uint32_t EventQueue::bucket(Time at) {
  if (at < now_) throw std::logic_error("event scheduled in the past");
  std::size_t place = slot(at);
  if (table_[place].bucket != kNone) return table_[place].bucket;
  if (2 * (used_ + 1) > table_.size()) {
    grow_table();
    place = slot(at);
  }
  std::uint32_t id = 0;
  if (free_buckets_.empty()) {
    id = static_cast<std::uint32_t>(buckets_.size());
    buckets_.push_back({at, kNone, kNone});
  } else {
    id = free_buckets_.back();
    free_buckets_.pop_back();
    buckets_[id] = {at, kNone, kNone};
  }
  table_[place] = {at, id};
  ++used_;
  heap_.push_back({at, id});
  std::push_heap(heap_.begin(), heap_.end(), kLater);
  return id;
}

/// Drops the bucket just emptied and moves to the earliest one.
void EventQueue::next_instant() {
  if (heap_.empty()) throw std::logic_error("no event to take");
  if (current_ != kNone) {
    forget(buckets_[current_].at);
    free_buckets_.push_back(current_);
    if (hint_ == current_) hint_ = kSentinel;
  }
  std::pop_heap(heap_.begin(), heap_.end(), kLater);
  current_ = heap_.back().bucket;
  now_ = heap_.back().at;
  heap_.pop_back();
}

/// Takes a time out of the table and closes the gap (linear probing without tombstones).
void EventQueue::forget(Time at) {
  const std::size_t mask = table_.size() - 1;
  std::size_t gap = slot(at);
  table_[gap] = {};
  --used_;
  for (std::size_t next = (gap + 1) & mask; table_[next].bucket != kNone; next = (next + 1) & mask) {
    const KnownTime known = std::exchange(table_[next], {});
    table_[slot(known.at)] = known;
  }
}

void EventQueue::grow_table() {
  std::vector<KnownTime> old(2 * table_.size());
  old.swap(table_);
  for (const KnownTime& known : old) {
    if (known.bucket != kNone) table_[slot(known.at)] = known;
  }
}

}  // namespace stepcast::sim
