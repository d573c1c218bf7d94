#include "models/cost/chunk_scan.h"

#include <algorithm>

#include "sim/long_time.h"

namespace stepcast::schedules {
FlopRate chunk_scan_rate(const ChunkProducts& kernel, const Gpu& gpu, const Software& software) {
  const ScanRates& rates = kernel.by == ScanKernels::mamba ? software.mamba_rates : software.delta_net_rates;
  return (kernel.backward ? rates.backward : rates.forward) * (gpu.sms * gpu.scan_speed);
}

Time chunk_scan_time(const ChunkProducts& kernel, const Gpu& gpu, const Software& software) {
  const double multiplied = kernel.flops.value / chunk_scan_rate(kernel, gpu, software).value;
  const double moved = kernel.bytes / streaming_rate(gpu).value;
  const double passed_on = kernel.steps > 1 ? static_cast<double>(kernel.steps) * to_seconds(software.scan_step) : 0;
  return from_seconds(std::max({multiplied, moved, passed_on}), "one scan takes more than 106 days");
}

}  // namespace stepcast::schedules
