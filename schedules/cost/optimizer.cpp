#include "schedules/cost/optimizer.h"

#include <algorithm>

#include "schedules/cost/elementwise.h"

namespace stepcast::schedules {

Time optimizer_time(const Gpu& gpu, const Software& software, Optimizer optimizer, double parameters) {
  if (optimizer == Optimizer::none) return {};
  constexpr double kMoment = 8;  // bytes: 4 read, 4 written
  const double others = kMoment * (moments(optimizer) - moments(software.optimizer));
  const double bytes = std::max(software.optimizer_bytes_per_parameter + others, 0.0);
  const Bandwidth rate = streaming_rate(gpu) * measured_share(gpu, "optimizer").value_or(1);
  return from_seconds(parameters * bytes / rate.value);
}

}  // namespace stepcast::schedules
