#include "schedules/results/time_parts.h"

namespace stepcast::schedules {

Time TimeSplit::sum() const {
  Time all{};
  for (const TimePart& part : kTimeParts) all += this->*part.time;
  return all;
}

}  // namespace stepcast::schedules
