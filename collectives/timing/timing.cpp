#include "collectives/timing/timing.h"

#include <algorithm>

namespace stepcast::collectives {

Timing scaled(Timing timing, double factor) {
  if (factor == 1) return timing;
  for (Time* time : {&timing.duration, &timing.latency, &timing.still, &timing.interval})
    *time = from_seconds(to_seconds(*time) * factor);
  for (Timing::Load& load : timing.loads) {
    load.bytes *= factor;
    load.occupied *= factor;
  }
  return timing;
}

Timing passed_on(Timing first, const Timing& second) {
  const Time moves = std::max(first.duration - first.still, second.duration - second.still);
  first.duration = std::max(first.duration + second.latency, second.duration + first.latency);
  first.interval = std::max(first.interval, second.interval);
  first.latency = first.latency + second.latency;
  first.still = first.duration - std::min(moves, first.duration);
  first.exact = first.exact && second.exact;
  first.spread = std::max(first.spread, second.spread);
  first.loads.insert(first.loads.end(), second.loads.begin(), second.loads.end());
  return first;
}

}  // namespace stepcast::collectives
