#pragma once

#include <algorithm>
#include <vector>

#include "schedules/forecast.h"
#include "search/resource.h"
#include "workload/machines.h"

namespace stepcast::search {

/// How much better a resource is made to measure what it is worth, and worse: its rates by this factor, its times by
/// one over it.
inline constexpr double kSlightly = 1.01, kTwice = 2;

/// Steps of one scenario with some resources better or worse, each simulated anew.
struct Elasticity {
  Time better{}, worse{};  ///< the step where they are kSlightly better, or as much worse
  Time twice{};            ///< where they are twice as good
  /// By so many per cent the step changes where they get one per cent better: the change of the step's logarithm over
  /// that of the resource's, between the two. -1: the step is all theirs. 0: nothing waits for them. Above 0: a better
  /// one makes the step longer, as where it makes flows meet that did not.
  double central = 0;
  double if_better = 0, if_worse = 0;  ///< the same to one side alone
  /// Whether the sides differ by more than those of any step do that is a sum of a part which the resource decides and
  /// one that it does not: what the step waits for changes right here.
  bool kink = false;
};

/// What one resource is worth.
struct ResourceEffect {
  const RatedResource* resource = nullptr;
  Elasticity elasticity{};
  /// Of one that makes the step longer where it is better: whether it would not, did the library take the fastest
  /// algorithms, not those that its own model of rates picks (collectives::Transport::as_nccl_picks).
  bool by_picks = false;

  /// Whether the step, which takes `now`, gets longer where the resource is better, by a ten-thousandth at least.
  bool lengthens(Time now) const {
    constexpr double kNotable = 1.0001;
    return std::max(elasticity.better, elasticity.twice) / now > kNotable;
  }
};

/// What a step waits for.
struct Sensitivity {
  schedules::Forecast forecast;         ///< as the scenario is, with its critical path
  std::vector<ResourceEffect> effects;  ///< of every resource that the scenario has, the most negative first
  Elasticity together{};                ///< all of them at once: -1, where nothing else takes time
  double sum = 0;                       ///< of the resources' central elasticities
};

/// Simulates the scenario's step again for each resource. Requires schedules::check(scenario) to be empty. The answer
/// does not depend on the threads. Throws InputError where the cluster cannot carry the plan.
Sensitivity sensitivity(const schedules::Scenario& scenario, workload::Machines& machines);

}  // namespace stepcast::search
