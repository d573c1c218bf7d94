#pragma once

#include <algorithm>
#include <set>
#include <vector>

#include "schedules/plan/plan.h"
#include "search/other_settings.h"

namespace stepcast::search {

/// Tells when a plan whose layers are cut into stages by what they take (parallelism.layers_per_stage: balanced) is the
/// same as the one whose layers are cut as the scenario says (given), so that a search counts and simulates it once: 32
/// alike layers on 4 stages, say, are 8 each either way. Requires that a search comes to each plan with the given cut
/// right before the same plan with the balanced one, and calls add() of the first and has() of the second.
class GivenCuts {
 public:
  /// A plan with the given cut, which the next has() and surely_has() are compared with.
  void add(const Settings& settings, const schedules::Plan& plan) {
    last_ = settings;
    chunks_ = plan.staged.chunks;
    fits_ = !plan.out_of_memory;
  }

  /// Whether a plan with a balanced cut has the layers of the last one that was added.
  bool has(const Settings& settings, const schedules::Plan& plan) {
    const bool same_cut = is_beside_last(settings) && std::ranges::equal(chunks_, plan.staged.chunks, same);
    if (same_cut && goes_by_time(settings)) known_.insert(without_memory(settings));
    return same_cut;
  }
  /// True where has() would say yes, known without making the plan: it said so of a plan that differs only in what the
  /// cut does not depend on. False says nothing.
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
  /// Whether memory has no say in a cut that is the given one (LayerCuts::cut): plans that do not fit may be cut to
  /// fit.
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
