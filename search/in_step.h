#pragma once

#include <initializer_list>
#include <span>
#include <vector>

#include "schedules/parallel/ranks.h"
#include "schedules/plan/plan.h"
#include "schedules/step/traffic.h"
#include "search/traffic_times.h"

namespace stepcast::search {

/// A tighter lower bound of sends and sums than each has alone, where several groups surely ask for the network at the
/// same moment. The ranks that work on one sample, a tensor and context group of each stage, wait for each other
/// inside every layer; so all of them begin to send to the next stage at once, say, and where their sends share a link
/// none has it to itself. Of other groups nobody knows when they begin, and their traffic counts as if it were alone.
class InStep {
 public:
  /// Of none. `capacities`: of links, by LinkId.
  InStep(const TrafficTimes& times, std::span<const Bandwidth> capacities) : times_(times), capacities_(capacities) {}

  /// Finds out whether ranks are kept in step, and takes those of the first sample if so. Needed of the caller: groups
  /// stand alone (Passes::stand_alone). In step they are where every chunk has a layer, whose traffic holds them
  /// together, and where the sends of some groups take unlike times: only then does a simulated step keep ranks in step
  /// that way.
  void find(const schedules::Scenario& scenario, const schedules::Plan& plan, const schedules::Ranks& ranks,
            const schedules::Traffic& traffic);

  /// What communications take at least that run one after the other; null ones count nothing.
  Time least(std::initializer_list<const schedules::Declared*> all) const;

 private:
  const TrafficTimes& times_;
  std::span<const Bandwidth> capacities_;
  std::vector<bool> together_;  ///< by GPU; empty: nothing is known
};

}  // namespace stepcast::search
