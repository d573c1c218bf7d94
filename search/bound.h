#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "schedules/plan/plan.h"
#include "search/inner_loads.h"
#include "search/layer_times.h"
#include "search/least_step.h"
#include "search/traffic_times.h"
#include "workload/machine.h"

namespace stepcast::search {

/// What the step of a plan takes at least: no forecast of it (schedules::forecast) takes less, to the picosecond. For
/// plans that have the values of the first kSharedAxes in common, which share what their layers take. Not for use from
/// several threads at once.
///
/// A stage cannot begin before the first micro-batch has come through the stages before it, runs all its passes one
/// after the other, and what follows its last backward pass is that micro-batch's way back and the update of the
/// weights. Where passes share a GPU with traffic they only take longer. And no link carries more than it can.
class StepBound {
 public:
  explicit StepBound(std::shared_ptr<const workload::Machine> machine) : times_(std::move(machine)) {}

  /// By what its stages' blocks take.
  using LoadsOfKinds = std::map<const std::vector<schedules::PieceTimes::TimedPiece>*, InnerLoads>;

  /// The times of layers that it goes by.
  LayerTimes& times() { return times_; }

  /// From the kernels of the model alone, of which one stage has at least an even share, whatever pipeline runs them,
  /// and stages run just as much in the mean.
  /// `parts`: as schedules::plan has them. Never more than of_passes, and about a tenth of its work. 0
  /// also where blocks differ by the chunk that they are in, and with GPUs of two kinds.
  static Time of_kernels(const schedules::Scenario& scenario, schedules::SharedParts& parts);

  /// The same with the traffic inside layers, bounded by what its busiest links need.
  static Time of_layers(const schedules::Scenario& scenario, const workload::Machine& machine,
                        schedules::SharedParts& parts);

  /// From the plan's passes and bubbles, and the links that traffic inside layers keeps busy. Requires `plan` to be
  /// schedules::plan(scenario). O(layers). 0 with jitter, with a parameter server, and where ranks do not wait for each
  /// other, of which nothing is bounded. Of GPUs of two kinds the replica on the slower ones counts, and no kernels are
  /// counted; where one GPU is slow, the replica that has it.
  LeastStep of_passes(const schedules::Scenario& scenario, const schedules::Plan& plan);

  /// With what nothing hides of the traffic between stages and between data ranks as well; never less. About a tenth of
  /// what a forecast costs.
  Time with_traffic(const schedules::Scenario& scenario, const schedules::Plan& plan) {
    return with(TrafficTimes::TimeWanted::time, scenario, plan);
  }

  /// With what nothing hides of the traffic between the data ranks of the first stage, whose last pass is the last of
  /// all in most pipelines, bounded by what its busiest links need: no collective is simulated. Nothing where each
  /// group may go its own way. No more than with_traffic.
  std::optional<Time> with_least_traffic(const schedules::Scenario& scenario, const schedules::Plan& plan);

 private:
  Time with(TrafficTimes::TimeWanted traffic, const schedules::Scenario& scenario, const schedules::Plan& plan);

  LayerTimes times_;
  LoadsOfKinds loads_;
};

}  // namespace stepcast::search
