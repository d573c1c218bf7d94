#include "schedules/cost/optimizer.h"

#include "schedules/cost/elementwise.h"

namespace stepcast::schedules {

Time optimizer_time(const Gpu& gpu, const Software& software, double parameters) {
  const Bandwidth rate = streaming_rate(gpu) * measured_share(gpu, "optimizer").value_or(1);
  return from_seconds(parameters * software.optimizer_bytes_per_parameter / rate.value);
}

}  // namespace stepcast::schedules
