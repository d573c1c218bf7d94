#include "app/report/spread.h"

#include <algorithm>

#include "calibrate/fit/statistics.h"

namespace stepcast::app {

HashingSpread spread(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t reached = (values.size() * 95 + 99) / 100;
  return {values.front(), *calibrate::median(values), values[reached - 1], values.back()};
}

}  // namespace stepcast::app
