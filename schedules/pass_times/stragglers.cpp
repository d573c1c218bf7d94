#include "schedules/pass_times/stragglers.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace stepcast::schedules {
namespace {

/// SplitMix64: Steele, Lea, Flood, OOPSLA 2014.
std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// In (0, 1).
double uniform(std::uint64_t bits) { return (static_cast<double>(bits >> 11) + 0.5) * 0x1.0p-53; }

/// Box and Muller 1958.
double normal(std::uint64_t bits) {
  return std::sqrt(-2 * std::log(uniform(bits))) * std::cos(2 * std::numbers::pi * uniform(mixed(bits)));
}

Time times(Time t, double factor) { return from_seconds(to_seconds(t) * factor); }

}  // namespace

double Stragglers::factor(topology::GpuId gpu, std::uint64_t number) const {
  const std::uint32_t g = topology::index(gpu);
  double factor = imperfections_.slow_gpu == g ? 1 / imperfections_.gpu_speed : 1;
  if (imperfections_.jitter > 0) {
    number += std::uint64_t{step_} << 32;
    const double variance = std::log1p(imperfections_.jitter * imperfections_.jitter);
    factor *=
        std::exp(std::sqrt(variance) * normal(mixed(mixed(mixed(imperfections_.seed) ^ g) ^ number)) - variance / 2);
  }
  return factor;
}

PassTime Stragglers::slowed(Coordinate c, std::uint64_t number, const PassTime& alone) const {
  const Time own = slowed(c, number, alone.compute);
  double slowest = 0;
  for (std::uint32_t t = 0; t < ranks_.plan().tensor; ++t)
    slowest = std::max(slowest, factor(ranks_.gpu({t, c.data, c.stage}), number));
  const Time longest = times(alone.compute, slowest);
  PassTime slow = alone;
  slow.compute = own;
  // Copies that take longer than what runs beside them are waited for the less, the longer that takes.
  if (alone.hides_copies > Time{} && alone.compute > Time{}) {
    const Time more = times(alone.hides_copies, longest / alone.compute - 1);
    slow.exposed_copy = std::max(Time{}, alone.exposed_copy - more);
  }
  slow.exposed_tensor = longest - own + alone.exposed_tensor;
  slow.duration = slow.compute + slow.exposed_tensor + slow.exposed_copy + slow.exposed_host;
  return slow;
}

Time Stragglers::slowed(Coordinate c, std::uint64_t number, Time alone) const {
  const double own = factor(ranks_.gpu(c), number);
  return own == 1 ? alone : times(alone, own);
}

}  // namespace stepcast::schedules
