#include "search/layer_times.h"

#include "models/layers/partition.h"
#include "schedules/pipeline/planned.h"

namespace stepcast::search {

using namespace schedules;

namespace {

std::optional<OtherKind> other_kind(const std::optional<Scenario>& scenario, const Blocks& blocks) {
  if (!scenario) return std::nullopt;
  return OtherKind{*scenario, blocks};
}

}  // namespace

LayerTimes::TimedLayers::TimedLayers(const Scenario& scenario, const StagedModel& staged,
                                     const workload::Machine& machine)
    : own(scenario),
      blocks(*staged.models.front()),
      other(!staged.kinds.empty() ? std::optional(staged.kinds.back()) : std::nullopt),
      other_blocks(*staged.models.back()),
      ranks(own.parallelism, machine.cluster().gpus_per_node(), machine.cluster().fabric_may_block()),
      splits_backward(staged.pipeline->shape.splits_backward),
      pieces(own, blocks, ranks, machine.timer(), true, splits_backward, other_kind(other, other_blocks)),
      machine_(machine) {}

PieceTimes& LayerTimes::TimedLayers::least() {
  if (least_ == nullptr)
    least_ = std::make_unique<PieceTimes>(own, blocks, ranks, machine_.timer(), true, splits_backward,
                                          other_kind(other, other_blocks), nullptr, SiblingTime::any);
  return *least_;
}

LayerTimes::Key LayerTimes::key(const Scenario& s) {
  const bool splits = planned_shape(s, micro_batches(s)).splits_backward,
             by_chunks = s.model.family == Family::t5 || s.recompute_group > 1 || s.recompute_layers;
  return {splits, weight_work(s), has_loss_block(s), by_chunks ? s.pipeline.virtual_stages : 0,
          by_chunks ? s.parallelism.layers_per_stage : std::vector<std::uint32_t>{}};
}

LayerTimes::TimedLayers* LayerTimes::known(const Scenario& s) const {
  const auto found = timed_.find(key(s));
  return found == timed_.end() ? nullptr : found->second.get();
}

LayerTimes::TimedLayers& LayerTimes::of(const Scenario& s, const Plan& plan) {
  std::unique_ptr<TimedLayers>& timed = timed_[key(s)];
  if (timed == nullptr) timed = std::make_unique<TimedLayers>(s, plan.staged, *machine_);
  return *timed;
}

}  // namespace stepcast::search
