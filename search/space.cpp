#include "search/space.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "models/layers/low_precision.h"
#include "schedules/checks/check.h"
#include "schedules/pipeline/pipelines.h"
#include "search/layer_cuts.h"

namespace stepcast::search {
namespace {

using schedules::Scenario;

std::int64_t ranks_of_a_sample(const Scenario& s) {
  return std::int64_t{s.parallelism.tensor} * s.parallelism.context * s.parallelism.pipeline;
}

/// Whether selective recomputation would repeat nothing: a fused attention core saves no scores.
bool selective_repeats_nothing(const Scenario& s) {
  if (s.recompute != schedules::Recompute::selective || schedules::is_network(s.model.family)) return false;
  const schedules::RecomputedModules modules = recomputed_modules(s, s.recompute);
  return !names_more_than_core(modules) && !repeats_attention_core(s, s.recompute);
}

class Enumeration {
 public:
  explicit Enumeration(const Space& space) : space_(space), tried_(space.start) {
    for (std::size_t axis = 0; axis < kAxes; ++axis) settings_[axis] = space.values[axis].front();
  }

  std::vector<Settings> shared() {
    go_through(0);
    return std::move(found_);
  }

 private:
  /// Whether values of this axis and those before it go with each other, and say anything.
  bool goes_on(std::size_t axis) {
    const std::string_view key = axes()[axis].key;
    const bool first = settings_[axis] == space_.values[axis].front();
    const std::int64_t share = ranks_of_a_sample(tried_);
    if (key == "parallelism.pipeline") {
      if (tried_.cluster.gpus % share != 0) return false;
      tried_.parallelism.data = static_cast<std::uint32_t>(tried_.cluster.gpus / share);
    }
    if (key == "training.micro_batch")
      return tried_.training.global_batch % (tried_.training.micro_batch * tried_.parallelism.data) == 0;
    if (key == "recompute") return first || !selective_repeats_nothing(tried_);
    if (key == "parallelism.sequence") return first || tried_.parallelism.tensor > 1;
    // Ranks along one dimension stand in one order, whatever it is called.
    if (key == "parallelism.order") return first || dimensions_with_ranks() > 1;
    return true;
  }

  int dimensions_with_ranks() const {
    int several = 0;
    for (const schedules::Dimension dimension : tried_.parallelism.order)
      several += size(tried_.parallelism, dimension) > 1 ? 1 : 0;
    return several;
  }

  void go_through(std::size_t axis) {
    if (axis == kSharedAxes) {
      found_.push_back(settings_);
      return;
    }
    const std::vector<std::int64_t>& values = space_.values[axis];
    std::optional<Scenario> before;  // a copy takes as long as all else here
    if (values.size() > 1) before = tried_;
    for (const std::int64_t value : values) {
      settings_[axis] = value;
      if (value != values.front()) tried_ = *before;
      axes()[axis].set(tried_, value);
      if (goes_on(axis)) go_through(axis + 1);
    }
  }

  const Space& space_;
  Scenario tried_;
  Settings settings_{};
  std::vector<Settings> found_;
};

/// Nothing for "custom".
const schedules::PipelineSchedule* pipeline_named(std::int64_t value) {
  const auto place = static_cast<std::size_t>(value);
  return place < schedules::pipelines().size() ? schedules::pipelines()[place] : nullptr;
}

/// What a scenario has that leaves virtual stages to its schedule: on one stage, or where the schedule is made for one
/// number.
const std::vector<std::int64_t> kOwnVirtualStages{1};

/// Whether one data rank too holds less with ZeRO 2 and 3 than with ZeRO 0 and 1: a micro-batch's gradients beside
/// their sum, or gradients whose optimizer is off the GPU, do not stay then (schedules/plan/memory.cpp).
bool frees_gradients(const Space& space, const Settings& shared) {
  static const std::size_t optimizer = axis_named("", "offload.optimizer");
  return space.start.software.autograd_gradients ||
         shared[optimizer] != static_cast<std::int64_t>(schedules::Tier::gpu);
}

/// Whether one data rank holds less with ZeRO 3 than with ZeRO 0 to 2: casts of weights to 8 or 4 bits then stay for
/// the layer at work alone.
bool frees_casts(const Space& space) { return kept_weight_cast_bytes(space.start) > 0; }

}  // namespace

Space usual_space(Scenario start) {
  Space space;
  for (std::size_t axis = 0; axis < kAxes; ++axis) space.values[axis] = axes()[axis].usual(start);
  space.start = std::move(start);
  return space;
}

std::vector<std::int64_t> smaller_clusters(const Scenario& s) {
  std::vector<std::int64_t> sizes;
  for (std::int64_t gpus = 1; gpus <= s.cluster.gpus; ++gpus)
    if (s.cluster.gpus % gpus == 0 && (gpus <= s.cluster.node.gpus || gpus % s.cluster.node.gpus == 0))
      sizes.push_back(gpus);
  return sizes;
}

std::vector<Settings> shared_settings(const Space& space) { return Enumeration(space).shared(); }

void set_shared(Scenario& plan, const Settings& settings) {
  for (std::size_t axis = 0; axis < kSharedAxes; ++axis) axes()[axis].set(plan, settings[axis]);
  plan.parallelism.data = static_cast<std::uint32_t>(plan.cluster.gpus / ranks_of_a_sample(plan));
}

void set_others(Scenario& plan, const Settings& settings) {
  for (std::size_t axis = kSharedAxes; axis < kAxes; ++axis) axes()[axis].set(plan, settings[axis]);
}

void each_plan(const Space& space, const Settings& shared, const std::function<void(const Settings&)>& visit) {
  static const std::size_t schedule = axis_named("", "pipeline.schedule"),
                           virtual_stages = axis_named("", "pipeline.virtual_stages"),
                           zero = axis_named("", "data_parallel.zero"), bucket = axis_named("", "data_parallel.bucket"),
                           layers = axis_named("", "parallelism.layers_per_stage"),
                           pipeline = axis_named("", "parallelism.pipeline"),
                           tensor = axis_named("", "parallelism.tensor"), gpus = axis_named("", "cluster.gpus");
  const std::int64_t stages = shared[pipeline];
  const bool copies = shared[gpus] / (shared[tensor] * stages) > 1;  // data and context ranks
  const bool of_gradients = frees_gradients(space, shared), of_casts = frees_casts(space);
  const std::vector<std::int64_t>& schedules = space.values[schedule];
  const bool has_1f1b = std::ranges::any_of(schedules, [](std::int64_t named) {
    const schedules::PipelineSchedule* const known = pipeline_named(named);
    return known != nullptr && known->name == "1f1b";
  });
  Settings settings = shared;
  for (const std::int64_t named : schedules) {
    const schedules::PipelineSchedule* const known = pipeline_named(named);
    settings[schedule] = named;
    const bool chosen = known == nullptr || (stages > 1 && known->virtual_stages == 0);
    for (const std::int64_t chunks : chosen ? space.values[virtual_stages] : kOwnVirtualStages) {
      // Interleaved with one virtual stage is 1F1B.
      if (known != nullptr && known->in_groups && chunks == 1 && has_1f1b) continue;
      settings[virtual_stages] = chunks;
      const bool shards = copies || (known != nullptr && known->placement == schedules::Placement::opposite);
      const std::int64_t first_state = space.values[zero].front();
      for (const std::int64_t state : space.values[zero]) {
        const bool frees_more =
            (of_gradients && (state >= 2) != (first_state >= 2)) || (of_casts && (state == 3) != (first_state == 3));
        if (!shards && state != first_state && !frees_more) continue;
        settings[zero] = state;
        for (const std::int64_t size : space.values[bucket]) {
          if (!shards && size != space.values[bucket].front()) continue;
          settings[bucket] = size;
          for (const std::int64_t cut : space.values[layers]) {
            if (stages == 1 && cut != space.values[layers].front()) continue;
            settings[layers] = cut;
            visit(settings);
          }
        }
      }
    }
  }
}

bool is_balanced(const Settings& settings) {
  static const std::size_t layers = axis_named("", "parallelism.layers_per_stage"),
                           pipeline = axis_named("", "parallelism.pipeline");
  return settings[layers] == static_cast<std::int64_t>(LayersPerStage::balanced) && settings[pipeline] > 1;
}

Scenario plan_of(const Space& space, const Settings& settings, workload::Machines& machines) {
  Scenario plan = space.start;
  set_shared(plan, settings);
  set_others(plan, settings);
  if (!is_balanced(settings) || !schedules::check(plan).empty()) return plan;
  LayerTimes times(machines.of(machine_of(plan)));
  LayerCuts(times).cut(plan, machines);
  return plan;
}

}  // namespace stepcast::search
