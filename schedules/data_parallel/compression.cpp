#include "schedules/data_parallel/compression.h"

#include <cmath>

#include "sim/long_time.h"
#include "sim/whole_bytes.h"

namespace stepcast::schedules {
namespace {

constexpr double kIndex = 4, kSector = 32;  // bytes

double bytes_of(Precision precision) { return static_cast<double>(element_bytes(precision)); }

Time streaming(const Gpu& gpu, double bytes) {
  return from_seconds(bytes / streaming_rate(gpu).value,
                      "compressing gradients takes more than 106 days at cluster.node.gpu.memory.bandwidth");
}

}  // namespace

double message_bytes(const Scenario& s, double elements) {
  const Compression& compression = s.data_parallel.compression;
  const double value = bytes_of(gradient_precision(s));
  if (compression.top_k) return elements * *compression.top_k * (value + kIndex);
  return elements * value / compression.ratio.value_or(1);
}

MessageSum sum_of_messages(const Scenario& s, double elements, std::uint32_t ranks) {
  const bool gathered = s.data_parallel.compression.top_k.has_value();
  const double bytes = message_bytes(s, elements) * (gathered ? ranks : 1);
  return {gathered ? collectives::Operation::all_gather : collectives::Operation::all_reduce,
          whole_bytes(std::ceil(bytes))};
}

Time compress_time(const Scenario& s, const Gpu& gpu, double elements) {
  if (!s.data_parallel.compression.any()) return {};
  const double gradients = elements * bytes_of(s.software.main_gradient_precision);
  return streaming(gpu, 5 * gradients + message_bytes(s, elements));
}

Time decompress_time(const Scenario& s, const Gpu& gpu, double elements, std::uint32_t messages) {
  const Compression& compression = s.data_parallel.compression;
  if (!compression.any()) return {};
  const double gradients = elements * bytes_of(s.software.main_gradient_precision),
               message = message_bytes(s, elements);
  if (!compression.top_k) return streaming(gpu, message + gradients);
  return streaming(gpu, gradients + messages * (message + 2 * kSector * elements * *compression.top_k));
}

}  // namespace stepcast::schedules
