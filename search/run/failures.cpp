#include "search/run/failures.h"

#include <algorithm>
#include <boost/math/tools/minima.hpp>
#include <cmath>
#include <cstdint>

namespace stepcast::search {
namespace {

double failure_rate(const Parts& parts) {
  return parts.mean_between.value > 0 ? parts.count / parts.mean_between.value : 0;
}

/// From one checkpoint's place to the next one's where nothing fails.
Duration period(Duration copy, Duration write, Duration interval) {
  return Duration{std::max(interval.value, write.value)} + copy;
}

/// Expected time, without restarts, from the moment a checkpoint counts until the next one, `interval` of work later,
/// does: the failure-free way takes `there`; after a failure it begins at the work itself, and takes `again`.
Duration running(const FailureModel& model, Duration there, Duration again) {
  const double mean = model.mean_between.value;
  return Duration{-mean * std::expm1(-there.value / mean) * std::exp(again.value / mean)};
}

}  // namespace

Duration mean_between_failures(const Parts& gpus, const Parts& nodes) {
  return Duration{1 / (failure_rate(gpus) + failure_rate(nodes))};
}

RunTimes times_without_failures(Duration copy, Duration write, Duration work, Duration interval) {
  const double whole = std::floor(work / interval);
  const Duration rest = work - interval * whole;
  RunTimes times{};
  times.useful = work;
  times.checkpoints = (period(copy, write, interval) - interval) * whole + write;
  // The first checkpoint waits for no other one.
  if (whole > 0) times.checkpoints = times.checkpoints - (period(copy, write, interval) - interval - copy);
  if (rest.value > 0) times.checkpoints += whole > 0 ? period(copy, write, rest) - rest : copy;
  times.total = work + times.checkpoints;
  return times;
}

RunTimes expected_times(const FailureModel& model, Duration work, Duration interval) {
  const auto& [mean, copy, write, restart] = model;
  const double whole = std::floor(work / interval);
  const Duration rest = work - interval * whole;
  // The run begins like one that was just restarted.
  const Duration first = (whole > 0 ? interval : rest) + copy + write;
  Duration time = running(model, first, first);
  if (whole > 1) time += running(model, period(copy, write, interval), interval + copy + write) * (whole - 1);
  if (whole > 0 && rest.value > 0) time += running(model, period(copy, write, rest), rest + copy + write);

  RunTimes times = times_without_failures(copy, write, work, interval);
  times.lost = time - times.total;
  times.total = time * std::exp(restart / mean);
  times.restarts = times.total - time;
  times.failures = times.total / mean;
  return times;
}

double slowdown(const FailureModel& model, Duration interval) {
  const Duration time = running(model, period(model.copy, model.write, interval), interval + model.copy + model.write);
  return time / interval * std::exp(model.restart / model.mean_between);
}

Duration young_interval(const FailureModel& model) {
  return Duration{std::sqrt(2 * model.copy.value * model.mean_between.value)};
}

Duration daly_interval(const FailureModel& model) {
  const double x = model.copy / model.mean_between / 2;
  if (x >= 1) return model.mean_between;
  return young_interval(model) * (1 + std::sqrt(x) / 3 + x / 9) - model.copy;
}

Duration best_interval(const FailureModel& model) {
  // The least lies below the mean time between failures, and not far below the square root of Young.
  constexpr int kHalfTheBits = 26;
  constexpr double kFarBelow = 1e-3;
  const double mean = model.mean_between.value;
  const double stall = std::max(model.copy.value, model.write.value * kFarBelow);
  const double low = std::min(mean, std::sqrt(2 * stall * mean)) * kFarBelow;
  std::uintmax_t steps = 200;
  const auto least = boost::math::tools::brent_find_minima(
      [&](double logarithm) { return std::log(slowdown(model, Duration{std::exp(logarithm)})); }, std::log(low),
      std::log(mean), kHalfTheBits, steps);
  return Duration{std::exp(least.first)};
}

}  // namespace stepcast::search
