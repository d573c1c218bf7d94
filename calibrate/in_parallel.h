#pragma once

#include <cstddef>
#include <functional>

namespace stepcast::calibrate {

/// On which this process may run.
unsigned cores();

/// Calls work(0) on this thread, and work(1) to work(threads - 1) at the same time on threads of their own, or on as
/// many as the machine has. Returns when all are done. Requires `work` to throw nothing.
void on_threads(std::size_t threads, const std::function<void(unsigned)>& work);

/// While it lives, in_parallel has at most so many threads where this thread calls it; 0: as many as it has without.
class MostThreads {
 public:
  explicit MostThreads(unsigned most);
  MostThreads(const MostThreads&) = delete;
  MostThreads& operator=(const MostThreads&) = delete;
  ~MostThreads();

 private:
  unsigned before_;
};

/// Calls run(0) to run(count - 1), as many at a time as there are cores() or MostThreads says; from within another
/// such call one after the other. What happens before is done when they start, and they are done when this returns. An
/// exception of one of them is thrown on, and those that have not begun are not called.
void in_parallel(std::size_t count, const std::function<void(std::size_t)>& run);

}  // namespace stepcast::calibrate
