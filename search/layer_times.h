#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "models/layers/blocks.h"
#include "models/layers/weight_work.h"
#include "scenario/scenario.h"
#include "schedules/parallel/ranks.h"
#include "schedules/pass_times/chunks.h"
#include "schedules/plan/plan.h"
#include "workload/machine.h"

namespace stepcast::search {

/// The times of the blocks of plans that have the values of the first kSharedAxes in common, each timed once. Not for
/// use from several threads at once.
class LayerTimes {
 public:
  explicit LayerTimes(std::shared_ptr<const workload::Machine> machine) : machine_(std::move(machine)) {}

  /// The blocks of some of these plans, and what times them.
  struct TimedLayers {
    TimedLayers(const schedules::Scenario& scenario, const schedules::StagedModel& staged,
                const workload::Machine& machine);
    TimedLayers(const TimedLayers&) = delete;
    /// What they take at least where siblings take unlike times and do not stay together.
    schedules::PieceTimes& least();

    const schedules::Scenario own;
    const schedules::Blocks blocks;
    const std::optional<schedules::Scenario> other;  ///< as GPUs of a second kind see it, and their blocks
    const schedules::Blocks other_blocks;
    const schedules::Ranks ranks;
    const bool splits_backward;
    schedules::PieceTimes pieces;

   private:
    const workload::Machine& machine_;
    std::unique_ptr<schedules::PieceTimes> least_;  ///< none: not asked for yet
  };

  /// None: not timed yet.
  TimedLayers* known(const schedules::Scenario& scenario) const;
  /// Requires `plan` to be schedules::plan(scenario).
  TimedLayers& of(const schedules::Scenario& scenario, const schedules::Plan& plan);

  const workload::Machine& machine() const { return *machine_; }

 private:
  std::shared_ptr<const workload::Machine> machine_;
  /// By what else of a plan its blocks depend on: whether backward is split; what passes do with weights; whether the
  /// loss is a block; where chunks count, how many there are, and their layers.
  using Key = std::tuple<bool, schedules::WeightWork, bool, std::uint32_t, std::vector<std::uint32_t>>;
  static Key key(const schedules::Scenario& scenario);
  std::map<Key, std::unique_ptr<TimedLayers>> timed_;
};

}  // namespace stepcast::search
