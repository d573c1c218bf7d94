#pragma once

#include <algorithm>
#include <set>
#include <vector>

#include "schedules/plan/plan.h"
#include "search/other_settings.h"

namespace stepcast::search {

/// Plans whose layers are as the scenario has them, each right before the same plan with layers cut by what they take.
class GivenCuts {
 public:
  void add(const Settings& settings, const schedules::Plan& plan) {
    last_ = settings;
    chunks_ = plan.staged.chunks;
    fits_ = !plan.out_of_memory;
  }

  /// Whether a plan is the one before. Plans that do not fit may have another cut than those that do.
  bool has(const Settings& settings, const schedules::Plan& plan) {
    const bool same_cut = is_beside_last(settings) && std::ranges::equal(chunks_, plan.staged.chunks, same);
    if (same_cut && goes_by_time(settings)) known_.insert(without_memory(settings));
    return same_cut;
  }
  /// The same where that is known without the plan.
  bool surely_has(const Settings& settings) const {
    return is_beside_last(settings) && goes_by_time(settings) && known_.contains(without_memory(settings));
  }

 private:
  using Ranges = std::vector<schedules::BlockRange>;

  static bool same(const Ranges& a, const Ranges& b) {
    return std::ranges::equal(a, b, [](const schedules::BlockRange& c, const schedules::BlockRange& d) {
      return c.first == d.first && c.count == d.count;
    });
  }
  bool is_beside_last(Settings settings) const {
    static const std::size_t layers = axis_named("", "parallelism.layers_per_stage");
    settings[layers] = static_cast<std::int64_t>(LayersPerStage::given);
    return settings == last_;
  }
  /// Whether memory has no say in the cut (LayerCuts::cut), if it is the one before.
  bool goes_by_time(const Settings& settings) const {
    static const std::size_t virtual_stages = axis_named("", "pipeline.virtual_stages");
    return fits_ || settings[virtual_stages] > 1;
  }
  /// What such a cut depends on.
  static OtherSettings without_memory(const Settings& settings) {
    static const std::size_t zero = axis_named("", "data_parallel.zero") - kSharedAxes;
    OtherSettings others = others_of(settings);
    others[zero] = others[zero] == 3;
    return others;
  }

  Settings last_{};
  std::vector<Ranges> chunks_;
  bool fits_ = false;
  std::set<OtherSettings> known_;
};

}  // namespace stepcast::search
