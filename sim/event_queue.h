#pragma once

#include <cstdint>
#include <vector>

#include "sim/units.h"

namespace stepcast::sim {

/// What happens: `kind` and `subject` are the scheduler's own, the queue only carries them.
struct Event {
  std::uint32_t kind = 0;
  std::uint32_t subject = 0;
  friend bool operator==(const Event&, const Event&) = default;
};
static_assert(sizeof(Event) <= 24);

/// Future events, earliest first; at the same picosecond, in the order they were scheduled.
/// Symmetric work puts many events at one picosecond, so the heap holds distinct times only and each time
/// has a first-in-first-out list: an event at a time already known costs O(1), a new time O(log distinct times).
class EventQueue {
 public:
  EventQueue();

  /// The time of the event last taken; 0 before the first.
  Time now() const { return now_; }

  bool empty() const { return pending_ == 0; }

  /// Whether an event is left at now().
  bool more_now() const { return current_ != kNone && buckets_[current_].first != kNone; }

  /// Throws std::logic_error if at < now().
  void schedule(Time at, Event event) {
    if (buckets_[hint_].at != at || hint_ == kSentinel) hint_ = bucket(at);
    append(buckets_[hint_], event);
  }

  /// Takes the next event and moves now() to its time. Requires !empty().
  Event take() {
    if (!more_now()) next_instant();
    TimeBucket& bucket = buckets_[current_];
    const std::uint32_t taken = bucket.first;
    QueuedEvent& node = nodes_[taken];
    bucket.first = node.next;
    node.next = free_node_;
    free_node_ = taken;
    --pending_;
    return node.event;
  }

 private:
  static constexpr std::uint32_t kNone = 0xffffffffu;
  static constexpr std::uint32_t kSentinel = 0;  // buckets_[0] is never used: it lets hint_ be always valid

  struct QueuedEvent {
    Event event;
    std::uint32_t next = kNone;
  };
  struct TimeBucket {
    Time at{};
    std::uint32_t first = kNone, last = kNone;
  };
  struct KnownTime {  // a time and its bucket
    Time at{};
    std::uint32_t bucket = kNone;
  };

  void append(TimeBucket& bucket, Event event) {
    std::uint32_t id = free_node_;
    if (id != kNone) {
      free_node_ = nodes_[id].next;
      nodes_[id] = {event, kNone};
    } else {
      id = static_cast<std::uint32_t>(nodes_.size());
      nodes_.push_back({event, kNone});
    }
    if (bucket.first == kNone) {
      bucket.first = id;
    } else {
      nodes_[bucket.last].next = id;
    }
    bucket.last = id;
    ++pending_;
  }

  std::uint32_t bucket(Time at);
  void next_instant();
  std::size_t slot(Time at) const;
  void forget(Time at);
  void grow_table();

  Time now_{};
  std::uint32_t current_ = kNone;    // the bucket of now_, if it has been reached
  std::uint32_t hint_ = kSentinel;   // the bucket scheduled into last
  std::uint32_t free_node_ = kNone;  // chained by next
  std::size_t pending_ = 0;
  std::vector<QueuedEvent> nodes_;
  std::vector<TimeBucket> buckets_;
  std::vector<std::uint32_t> free_buckets_;
  std::vector<KnownTime> heap_;
  std::vector<KnownTime> table_;  // open addressing: time -> bucket, kNone: free; size a power of two
  std::size_t used_ = 0;          // entries in table_
};

}  // namespace stepcast::sim
