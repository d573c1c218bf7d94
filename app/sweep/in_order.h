#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <map>
#include <mutex>
#include <utility>

#include "calibrate/in_parallel.h"

namespace stepcast::app {

/// Results that several threads make, taken one by one in their order as soon as all before them are there.
///
/// `make(worker, i)` is called for each i from 0 to count - 1, by `threads` threads at a time; `worker` is the number
/// of its thread. `take(i, result)` is called for i = 0, 1, 2, ..., never twice at once. No thread runs further ahead
/// of what was taken than some thousand results, so that one slow result does not make all others wait in memory. The
/// first exception stops all and is thrown.
template <class Make, class Take>
void in_order(std::size_t count, unsigned threads, const Make& make, const Take& take) {
  using Result = decltype(make(0U, std::size_t{0}));
  constexpr std::size_t kMostAhead = 4096;
  std::mutex mutex;
  std::condition_variable took;
  std::map<std::size_t, Result> made;  // not taken yet
  std::size_t next = 0, taken = 0;
  bool taking = false;
  std::exception_ptr error;

  const auto take_ready = [&](std::unique_lock<std::mutex>& lock) {
    if (taking) return;  // that thread goes on with what came meanwhile
    taking = true;
    while (!error && !made.empty() && made.begin()->first == taken) {
      auto ready = made.extract(made.begin());
      lock.unlock();
      take(ready.key(), std::move(ready.mapped()));
      lock.lock();
      ++taken;
      took.notify_all();
    }
    taking = false;
  };
  calibrate::on_threads(std::min<std::size_t>(threads, count), [&](unsigned worker) {
    std::unique_lock lock(mutex);
    try {
      for (;;) {
        took.wait(lock, [&] { return error || next >= count || next < taken + kMostAhead; });
        if (error || next >= count) return;
        const std::size_t i = next++;
        lock.unlock();
        Result result = make(worker, i);
        lock.lock();
        made.emplace(i, std::move(result));
        take_ready(lock);
      }
    } catch (...) {
      if (!lock.owns_lock()) lock.lock();
      if (!error) error = std::current_exception();
      took.notify_all();
    }
  });
  if (error) std::rethrow_exception(error);
}

}  // namespace stepcast::app
