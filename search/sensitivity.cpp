#include "search/sensitivity.h"

#include <algorithm>
#include <cmath>

#include "calibrate/in_parallel.h"

namespace stepcast::search {
namespace {

using schedules::Scenario;

/// A step a + b / f of a resource that is f times as good has the elasticity -e = -b / (a + b) at f = 1, and its sides
/// differ by e (1 - e) times the logarithm of kSlightly to the first order, at most by 0.0025. Twice that is a kink.
constexpr double kMostOfSmooth = 0.005;

/// What each set of resources is improved by, one simulation for each.
constexpr double kFactors[] = {kSlightly, 1 / kSlightly, kTwice};

double log_ratio(Time a, Time b) { return std::log(a / b); }

Elasticity elasticity_of(Time now, Time better, Time worse, Time twice) {
  Elasticity e{.better = better, .worse = worse, .twice = twice};
  const double step = std::log(kSlightly);
  e.if_better = log_ratio(better, now) / step;
  e.if_worse = log_ratio(now, worse) / step;
  e.central = log_ratio(better, worse) / (2 * step);
  e.kink = std::abs(e.if_better - e.if_worse) > kMostOfSmooth;
  return e;
}

/// Whether with the fastest algorithms the resource makes no step longer.
bool is_by_picks(Scenario scenario, const RatedResource& resource, workload::Machines& machines) {
  if (!scenario.software.transport.as_nccl_picks) return false;
  scenario.software.transport.as_nccl_picks = false;
  const auto step = [&](double factor) {
    Scenario changed = scenario;
    improve(changed, resource, factor);
    return schedules::forecast(changed, machines, {.advise = false, .compare = false}).step;
  };
  const Time now = step(1);
  return step(kSlightly) <= now && step(kTwice) <= now;
}

}  // namespace

Sensitivity sensitivity(const Scenario& scenario, workload::Machines& machines) {
  Sensitivity out;
  for (const RatedResource& each : resources())
    if (has(scenario, each)) out.effects.push_back({&each});
  const std::size_t sets = out.effects.size() + 1, factors = std::size(kFactors);  // the last set: all of them
  std::vector<Time> steps(sets * factors);
  calibrate::in_parallel(steps.size() + 1, [&](std::size_t i) {
    schedules::ForecastOptions options{.advise = false, .compare = false};
    if (i == steps.size()) {
      options.critical_path = true;
      out.forecast = schedules::forecast(scenario, machines, options);
      return;
    }
    Scenario changed = scenario;
    const std::size_t set = i / factors;
    for (std::size_t each = 0; each < out.effects.size(); ++each)
      if (set == each || set + 1 == sets) improve(changed, *out.effects[each].resource, kFactors[i % factors]);
    steps[i] = schedules::forecast(changed, machines, options).step;
  });
  const auto of_set = [&](std::size_t set) {
    const std::size_t at = set * factors;
    return elasticity_of(out.forecast.step, steps[at], steps[at + 1], steps[at + 2]);
  };
  for (std::size_t each = 0; each < out.effects.size(); ++each) {
    out.effects[each].elasticity = of_set(each);
    out.sum += out.effects[each].elasticity.central;
  }
  out.together = of_set(sets - 1);
  calibrate::in_parallel(out.effects.size(), [&](std::size_t each) {
    ResourceEffect& effect = out.effects[each];
    effect.by_picks = effect.lengthens(out.forecast.step) && is_by_picks(scenario, *effect.resource, machines);
  });
  std::ranges::stable_sort(out.effects, {}, [](const ResourceEffect& e) { return e.elasticity.central; });
  return out;
}

}  // namespace stepcast::search
