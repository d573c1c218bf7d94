#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
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
/// Symmetric work puts many events at one picosecond, so the heap holds times, and each has a first-in-first-out list:
/// an event at a time that was asked for lately costs O(1), another O(log times).
class EventQueue {
 public:
  EventQueue() : buckets_(1) {}

  /// The time of the event last taken; 0 before the first.
  Time now() const { return now_; }

  bool empty() const { return pending_ == 0; }

  /// Whether an event is left at now().
  bool more_now() const {
    return current_ != kNone && (buckets_[current_].first != kNone || (!heap_.empty() && heap_.front().at == now_));
  }

  /// Throws std::logic_error if at < now().
  void schedule(Time at, Event event) {
    if (buckets_[hint_].at != at) hint_ = bucket(at);
    append(buckets_[hint_], event);
  }

  /// Takes the next event and moves now() to its time. Requires !empty().
  Event take() {
    if (current_ == kNone || buckets_[current_].first == kNone) next_bucket();
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
  static constexpr Time kNoTime{std::numeric_limits<std::int64_t>::min()};
  static constexpr std::size_t kRecent = 64;  // a power of two

  struct QueuedEvent {
    Event event;
    std::uint32_t next = kNone;
  };
  struct TimeBucket {
    Time at = kNoTime;  // kNoTime: it is free
    std::uint32_t first = kNone, last = kNone;
  };
  /// A bucket, which is not empty. Of two at one time the one that was made first is the earlier.
  struct Coming {
    Time at{};
    std::uint32_t made = 0;  // a count that begins again after 2^32
    std::uint32_t bucket = kNone;
    bool before(const Coming& other) const {
      return at != other.at ? at < other.at : static_cast<std::int32_t>(made - other.made) < 0;
    }
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
  void next_bucket();

  Time now_{};
  std::uint32_t current_ = kNone;    // the bucket of now_, if it has been reached
  std::uint32_t hint_ = 0;           // the bucket scheduled into last
  std::uint32_t free_node_ = kNone;  // chained by next
  std::uint32_t made_ = 0;           // buckets so far
  std::size_t pending_ = 0;
  std::vector<QueuedEvent> nodes_;
  std::vector<TimeBucket> buckets_;  // the first is never used: it lets hint_ and recent_ be always valid
  std::vector<std::uint32_t> free_buckets_;
  std::vector<Coming> heap_;                     // of four branches: children of i are 4 i + 1 to 4 i + 4
  std::array<std::uint32_t, kRecent> recent_{};  // the last bucket that was made for a time of this hash
};

}  // namespace stepcast::sim
