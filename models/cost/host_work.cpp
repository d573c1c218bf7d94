#include "models/cost/host_work.h"

#include <algorithm>

namespace stepcast::schedules {
namespace {

/// What launches nothing holds nothing up.
bool holds_up(const HostWork& work) { return work.launches > 0 || work.ahead; }

/// How far ahead the host is behind a run, if it was `before` ahead of the GPU.
Time lead(Time before, const HostWork& work, Time kernels) {
  if (work.ahead) return *work.ahead;
  return (holds_up(work) ? std::max(before, work.behind) : before) + kernels - work.time;
}

}  // namespace

HostWork then(const HostWork& first, Time kernels_of_first, const HostWork& second, Time kernels_of_second) {
  HostWork both{first.time + second.time, first.behind, second.launches, second.ahead};
  if (!second.ahead) both.launches += first.launches;
  if (first.ahead)
    both.ahead = lead(*first.ahead, second, kernels_of_second);
  else if (holds_up(second))
    both.behind = std::max(first.behind, second.behind + first.time - kernels_of_first);
  return both;
}

Time held_up(const HostWork& first, const HostWork& second) {
  return first.ahead && holds_up(second) ? std::max(second.behind - *first.ahead, Time{}) : Time{};
}

HostWork repeated(const HostWork& once, Time kernels, std::int64_t n) {
  if (once.ahead) return {once.time * n, once.behind, once.launches, once.ahead};
  return {once.time * n, once.behind + std::max(once.time - kernels, Time{}) * (n - 1), once.launches * n};
}

}  // namespace stepcast::schedules
