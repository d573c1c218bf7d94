#include "collectives/timing/chooser.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "sim/long_time.h"

namespace stepcast::collectives {

Time lower_bound(const Prospect& prospect, Bytes bytes) {
  const Time moving = from_seconds(prospect.seconds_per_byte * static_cast<double>(bytes.value),
                                   "one collective takes more than 106 days at the bandwidth of the links");
  return prospect.fixed + std::max(prospect.latency, moving);
}

Choice choose(std::span<const Prospect> prospects, Bytes bytes, const std::function<Time(std::size_t)>& simulate) {
  std::vector<std::size_t> order(prospects.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return lower_bound(prospects[i], bytes); });
  Choice best{order.front(), simulate(order.front())};
  for (const std::size_t i : std::span(order).subspan(1)) {
    if (lower_bound(prospects[i], bytes) > best.duration) break;
    const Time duration = simulate(i);
    if (duration < best.duration || (duration == best.duration && i < best.index)) best = {i, duration};
  }
  return best;
}

}  // namespace stepcast::collectives
