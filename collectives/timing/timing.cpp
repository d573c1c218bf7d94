#include "collectives/timing/timing.h"

#include <algorithm>
#include <map>

namespace stepcast::collectives {

Timing scaled(Timing timing, double factor) {
  if (factor == 1) return timing;
  for (Time* time : {&timing.duration, &timing.latency, &timing.still, &timing.before, &timing.interval})
    *time = from_seconds(to_seconds(*time) * factor);
  for (Timing::Load& load : timing.loads) {
    load.bytes *= factor;
    load.occupied *= factor;
  }
  return timing;
}

namespace {

/// How long both occupy the one that they occupy longest of the links that both cross; 0 where no link is common.
Time busiest_common(const Timing& a, const Timing& b, const topology::Cluster& cluster) {
  std::map<topology::LinkId, double> of_a, of_both;
  for (const Timing::Load& load : a.loads) of_a[load.link] += load.occupied;
  for (const Timing::Load& load : b.loads)
    if (const auto common = of_a.find(load.link); common != of_a.end() && common->second > 0 && load.occupied > 0)
      of_both.try_emplace(load.link, common->second).first->second += load.occupied;
  double most = 0;
  for (const auto& [link, occupied] : of_both)
    most = std::max(most, occupied / (cluster.link_bandwidth(link).value * cluster.link_speed(link)));
  return from_seconds(most);
}

}  // namespace

Timing passed_on(Timing first, const Timing& second, const topology::Cluster& cluster) {
  const Time common = busiest_common(first, second, cluster);
  const Time moves = std::max({first.duration - first.still, second.duration - second.still, common});
  const Time of_common = common > Time{} ? common + std::max(first.still, second.still) : Time{};
  first.duration = std::max({first.duration + second.latency, second.duration + first.latency, of_common});
  first.interval = std::max({first.interval, second.interval, common});
  first.latency = first.latency + second.latency;
  first.still = first.duration - std::min(moves, first.duration);
  first.bursts = 1;
  first.exact = first.exact && second.exact;
  first.spread = std::max(first.spread, second.spread);
  first.loads.insert(first.loads.end(), second.loads.begin(), second.loads.end());
  return first;
}

Timing at_least_of_slow_links(Timing timing, const topology::Cluster& cluster) {
  for (const Timing::Load& load : timing.loads) {
    const double speed = cluster.link_speed(load.link);
    if (speed == 1) continue;
    const double rate = cluster.link_bandwidth(load.link).value * speed;
    timing.duration = std::max(timing.duration, timing.still + from_seconds(load.occupied / rate));
  }
  return timing;
}

}  // namespace stepcast::collectives
