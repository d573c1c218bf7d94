#include "sim/event_queue.h"

#include <algorithm>
#include <stdexcept>

namespace stepcast::sim {
namespace {

constexpr std::size_t kBranches = 4;

}  // namespace

/// A bucket of that time, made if none is known.
std::uint32_t EventQueue::bucket(Time at) {
  if (at < now_) throw std::logic_error("event scheduled in the past");
  const std::uint64_t mixed = static_cast<std::uint64_t>(at.value) * 0x9e3779b97f4a7c15u;
  std::uint32_t& recent = recent_[(mixed >> 32) % kRecent];
  if (buckets_[recent].at == at) return recent;
  if (free_buckets_.empty()) {
    recent = static_cast<std::uint32_t>(buckets_.size());
    buckets_.emplace_back();
  } else {
    recent = free_buckets_.back();
    free_buckets_.pop_back();
  }
  buckets_[recent].at = at;
  const Coming coming{at, made_++, recent};
  std::size_t place = heap_.size();
  heap_.push_back(coming);
  while (place > 0) {
    const std::size_t parent = (place - 1) / kBranches;
    if (!coming.before(heap_[parent])) break;
    heap_[place] = heap_[parent];
    place = parent;
  }
  heap_[place] = coming;
  return recent;
}

/// Drops the bucket just emptied and moves to the earliest one.
void EventQueue::next_bucket() {
  if (heap_.empty()) throw std::logic_error("no event to take");
  if (current_ != kNone) {
    buckets_[current_] = {};
    free_buckets_.push_back(current_);
  }
  current_ = heap_.front().bucket;
  now_ = heap_.front().at;
  const Coming last = heap_.back();
  heap_.pop_back();
  if (heap_.empty()) return;
  std::size_t place = 0;
  for (;;) {
    const std::size_t begin = kBranches * place + 1, end = std::min(begin + kBranches, heap_.size());
    if (begin >= end) break;
    std::size_t least = begin;
    for (std::size_t child = begin + 1; child < end; ++child)
      if (heap_[child].before(heap_[least])) least = child;
    if (!heap_[least].before(last)) break;
    heap_[place] = heap_[least];
    place = least;
  }
  heap_[place] = last;
}

}  // namespace stepcast::sim
