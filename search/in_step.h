#pragma once

#include <initializer_list>
#include <span>
#include <vector>

#include "schedules/parallel/ranks.h"
#include "schedules/plan/plan.h"
#include "schedules/step/traffic.h"
#include "search/traffic_times.h"

namespace stepcast::search {

/// Traffic that the ranks of a sample begin at the same moment, because they wait for each other inside every layer.
class InStep {
 public:
  /// Of none. `capacities`: of links, by LinkId.
  InStep(const TrafficTimes& times, std::span<const Bandwidth> capacities) : times_(times), capacities_(capacities) {}

  /// Those of the first sample, where groups stand alone: simulated steps keep ranks in step by their traffic inside
  /// layers if groups of any other traffic take unlike times.
  void find(const schedules::Scenario& scenario, const schedules::Plan& plan, const schedules::Ranks& ranks,
            const schedules::Traffic& traffic);

  /// What they take at least, one after the other.
  Time least(std::initializer_list<const schedules::Declared*> all) const;

 private:
  const TrafficTimes& times_;
  std::span<const Bandwidth> capacities_;
  std::vector<bool> together_;  ///< by GPU; empty: nothing is known
};

}  // namespace stepcast::search
