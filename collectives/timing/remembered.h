#pragma once

#include <condition_variable>
#include <cstddef>
#include <map>
#include <mutex>
#include <set>
#include <utility>

namespace stepcast::collectives {

/// A table whose entries are worked out once, by whoever asks first, on any number of threads. An entry stays where it
/// is, and is never removed.
template <class Key, class Value>
class Remembered {
 public:
  /// `bytes_of`: about what a value takes in memory.
  explicit Remembered(std::size_t (*bytes_of)(const Value&)) : bytes_of_(bytes_of) {}

  /// What is kept under a key. What is not there yet is worked out outside the lock; who asks for the same meanwhile
  /// waits. `make` asks for no more than what its key is made of, so nobody waits in a circle. What it throws reaches
  /// who asked first; who waited works it out in turn.
  template <class Make>
  const Value& of(const Key& key, Make make) {
    std::unique_lock lock(mutex_);
    for (;;) {
      if (const auto known = known_.find(key); known != known_.end()) return known->second;
      if (under_way_.insert(key).second) break;
      worked_out_.wait(lock);
    }
    lock.unlock();
    try {
      Value fresh = make();
      lock.lock();
      const Value& kept = known_.try_emplace(key, std::move(fresh)).first->second;
      bytes_ += bytes_of_(kept);
      no_longer_under_way(key);
      return kept;
    } catch (...) {
      if (!lock.owns_lock()) lock.lock();
      no_longer_under_way(key);
      throw;
    }
  }

  /// Of all values.
  std::size_t bytes() const {
    const std::lock_guard lock(mutex_);
    return bytes_;
  }

 private:
  void no_longer_under_way(const Key& key) {
    under_way_.erase(key);
    worked_out_.notify_all();
  }

  std::size_t (*bytes_of_)(const Value&);
  mutable std::mutex mutex_;
  std::condition_variable worked_out_;
  std::map<Key, Value> known_;
  std::set<Key> under_way_;
  std::size_t bytes_ = 0;
};

}  // namespace stepcast::collectives
