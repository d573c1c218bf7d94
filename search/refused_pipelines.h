#pragma once

#include <algorithm>
#include <set>
#include <vector>

#include "schedules/checks/check.h"
#include "search/other_settings.h"

namespace stepcast::search {

/// Pipelines that the checks refuse, whatever the data-parallel state is.
class RefusedPipelines {
 public:
  bool have(const Settings& settings) const { return !all_.empty() && all_.contains(without_state(settings)); }
  void add(const Settings& settings, const std::vector<schedules::Problem>& problems) {
    const auto is_of_pipeline = [](const schedules::Problem& problem) {
      return problem.key == "pipeline.schedule" || problem.key == "pipeline.virtual_stages" ||
             problem.key == "parallelism.pipeline" || problem.key == "parallelism.layers_per_stage";
    };
    if (std::ranges::any_of(problems, is_of_pipeline)) all_.insert(without_state(settings));
  }

 private:
  static OtherSettings without_state(const Settings& settings) {
    static const std::size_t zero = axis_named("", "data_parallel.zero") - kSharedAxes;
    OtherSettings others = others_of(settings);
    others[zero] = 0;
    return others;
  }
  std::set<OtherSettings> all_;
};

}  // namespace stepcast::search
