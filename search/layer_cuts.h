#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "schedules/plan/plan.h"
#include "search/layer_times.h"
#include "workload/machines.h"

namespace stepcast::search {

/// As many layers for each model chunk as for every other, as near as goes: what `LayerCuts` begins with. With one
/// stage nothing is changed.
void cut_evenly(schedules::Scenario& plan);

/// Cuts layers into model chunks by what they take, of plans that have the values of the first kSharedAxes in common.
/// Not for use from several threads at once.
class LayerCuts {
 public:
  explicit LayerCuts(LayerTimes& times) : times_(times) {}

  /// Makes parallelism.layers_per_stage of `plan` the cut whose pipeline takes the least time (best_cut), by the times
  /// of its layers, its embedding and its head on the GPUs of each stage; and that plan. Where it does not fit, the
  /// best of the cuts that do, if there is one; but where stages hold several chunks, memory is not asked. Requires
  /// cut_evenly(plan) and check(plan) to be empty. `shared`: as schedules::plan has it.
  schedules::Plan cut(schedules::Scenario& plan, workload::Machines& machines,
                      schedules::SharedParts* shared = nullptr);

 private:
  LayerTimes& times_;
  /// Whatever memory there is: by schedule, virtual stages, and what else the times of layers depend on.
  std::map<std::tuple<std::string, std::uint32_t, schedules::WeightWork>, std::vector<std::uint32_t>> by_time_;
};

}  // namespace stepcast::search
