#include "collectives/timing/timing.h"

namespace stepcast::collectives {

Timing scaled(Timing timing, double factor) {
  if (factor == 1) return timing;
  for (Time* time : {&timing.duration, &timing.latency, &timing.interval})
    *time = from_seconds(to_seconds(*time) * factor);
  for (Timing::Load& load : timing.loads) {
    load.bytes *= factor;
    load.occupied *= factor;
  }
  return timing;
}

}  // namespace stepcast::collectives
