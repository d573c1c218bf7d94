#include "calibrate/in_parallel.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace stepcast::calibrate {
namespace {

thread_local unsigned most_threads = 0;
thread_local bool at_work = false;

std::size_t threads() {
  if (at_work) return 1;
  return most_threads > 0 ? most_threads : cores();
}

}  // namespace

unsigned cores() {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) return static_cast<unsigned>(CPU_COUNT(&allowed));
  return std::max(1u, std::thread::hardware_concurrency());
}

MostThreads::MostThreads(unsigned most) : before_(most_threads) {
  if (most > 0) most_threads = most;
}

MostThreads::~MostThreads() { most_threads = before_; }

void on_threads(std::size_t threads, const std::function<void(unsigned)>& work) {
  std::vector<std::jthread> others;
  others.reserve(threads);
  try {
    for (unsigned worker = 1; worker < threads; ++worker) others.emplace_back(work, worker);
  } catch (const std::system_error&) {  // the machine has no more threads: those that there are do the work
  }
  work(0);
}

void in_parallel(std::size_t count, const std::function<void(std::size_t)>& run) {
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::exception_ptr thrown;
  on_threads(std::min(count, threads()), [&](unsigned) {
    const bool before = std::exchange(at_work, true);
    for (std::size_t i = next++; i < count; i = next++) {
      try {
        run(i);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!thrown) thrown = std::current_exception();
        next = count;
      }
    }
    at_work = before;
  });
  if (thrown) std::rethrow_exception(thrown);
}

}  // namespace stepcast::calibrate
