#include "models/cost/host_work.h"

#include <algorithm>

namespace stepcast::schedules {

HostWork then(const HostWork& first, Time kernels, const HostWork& second) {
  // What launches nothing holds nothing up.
  const Time late = second.launches > 0 ? second.behind + first.time - kernels : Time{};
  return {first.time + second.time, std::max(first.behind, late), first.launches + second.launches};
}

HostWork repeated(const HostWork& once, Time kernels, std::int64_t n) {
  return {once.time * n, once.behind + std::max(once.time - kernels, Time{}) * (n - 1), once.launches * n};
}

}  // namespace stepcast::schedules
