#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <tuple>

#include "models/layers/blocks.h"
#include "scenario/scenario.h"
#include "schedules/parallel/ranks.h"
#include "schedules/pass_times/chunks.h"
#include "schedules/plan/plan.h"
#include "workload/machine.h"

namespace stepcast::search {

/// What the step of a plan takes at least: no forecast of it (schedules::forecast) takes less, to the picosecond. For
/// plans that have the values of the first kSharedAxes in common, which share what their layers take. Not for use from
/// several threads at once.
///
/// A stage cannot begin before the first micro-batch has come through the stages before it, runs all its passes one
/// after the other, and what follows its last backward pass is that micro-batch's way back and the update of the
/// weights. Where passes share a GPU with traffic they only take longer.
class StepBound {
 public:
  explicit StepBound(std::shared_ptr<const workload::Machine> machine) : machine_(std::move(machine)) {}

  /// From the plan's passes and bubbles. Requires `plan` to be schedules::plan(scenario). O(layers). 0 where the ranks
  /// of a stage do unlike things or do not wait for each other, of which nothing is bounded.
  Time of_passes(const schedules::Scenario& scenario, const schedules::Plan& plan);

  /// With what nothing hides of the traffic between stages and between data ranks as well; never less. About a tenth of
  /// what a forecast costs.
  Time with_traffic(const schedules::Scenario& scenario, const schedules::Plan& plan);

 private:
  /// The layers of plans that have them in common.
  struct Layers {
    Layers(const schedules::Scenario& scenario, const schedules::Blocks& model, const workload::Machine& machine,
           bool splits_backward)
        : own(scenario),
          blocks(model),
          ranks(own.parallelism, machine.cluster().gpus_per_node(), machine.cluster().fabric_may_block()),
          pieces(own, blocks, ranks, machine.timer(), true, splits_backward, nullptr, {}, nullptr, true) {}
    const schedules::Scenario own;
    const schedules::Blocks blocks;
    const schedules::Ranks ranks;
    schedules::PieceTimes pieces;
  };
  Layers& layers(const schedules::Scenario& scenario, const schedules::Plan& plan);

  std::shared_ptr<const workload::Machine> machine_;
  /// By what else of a plan its layers depend on: whether backward is split; with low precision, whether weights are
  /// cast for each pass; where chunks count, how many there are.
  std::map<std::tuple<bool, bool, std::uint32_t>, std::unique_ptr<Layers>> layers_;
};

}  // namespace stepcast::search
