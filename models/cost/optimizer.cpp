#include "models/cost/optimizer.h"

#include <algorithm>

#include "models/cost/elementwise.h"
#include "sim/long_time.h"

namespace stepcast::schedules {

Time optimizer_time(const Gpu& gpu, const Software& software, Optimizer optimizer, double parameters) {
  if (optimizer == Optimizer::none) return {};
  constexpr double kMoment = 8;  // bytes that the software's figure has for each: 4 read, 4 written
  const double own = 2.0 * moment_bytes(software.moment_precision) * moments(optimizer);
  const double others = software.optimizer_bytes_per_parameter - kMoment * moments(software.optimizer);
  const double bytes = std::max(others + own, 0.0);
  const Bandwidth rate = streaming_rate(gpu) * measured_share(gpu, {OperatorKind::optimizer}).value_or(1);
  return from_seconds(parameters * bytes / rate.value,
                      "the optimizer takes more than 106 days at cluster.node.gpu.memory.bandwidth");
}

}  // namespace stepcast::schedules
