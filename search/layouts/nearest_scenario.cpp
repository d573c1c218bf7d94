#include "search/layouts/nearest_scenario.h"

#include <algorithm>
#include <array>
#include <map>

#include "schedules/checks/check.h"
#include "search/layouts/unsplit.h"

namespace stepcast::search {

using namespace schedules;

namespace {

/// What ranks an axis is, of those that a scenario names.
enum class RankKind : std::uint8_t { none, data, tensor, expert };

RankKind rank_kind(WorkSplit work) {
  switch (work) {
    case WorkSplit::nothing:
      break;
    case WorkSplit::samples:
      return RankKind::data;
    case WorkSplit::experts:
      return RankKind::expert;
    case WorkSplit::tokens:
    case WorkSplit::columns:
    case WorkSplit::gathered_columns:
    case WorkSplit::inner:
    case WorkSplit::scattered_inner:
    case WorkSplit::features:
      return RankKind::tensor;
  }
  return RankKind::none;
}

/// Ranks of each kind, of one stage.
struct RankCounts {
  std::uint32_t data = 1, tensor = 1, expert = 1;
  bool scatters = false;  ///< tokens are split between multiplies
  friend bool operator==(const RankCounts&, const RankCounts&) = default;
};

/// The kind of work that most of an axis's multiplies have, each as much as it keeps in memory; experts by themselves.
std::optional<RankKind> most_of(const RunLayouts& run, std::size_t axis, bool of_experts) {
  std::map<RankKind, double> weights;
  for (const BlockLayouts& block : run.blocks)
    for (std::size_t i = 0; i < block.units.size(); ++i) {
      const LayoutUnit& unit = block.units[i];
      const bool weighted = unit.kind == UnitKind::multiply || unit.kind == UnitKind::convolution;
      if (!weighted || (unit.experts > 1) != of_experts) continue;
      weights[rank_kind(block.chosen[i].work[axis])] += (block.chosen[i].kept + 1) * block.count;
    }
  if (weights.empty()) return std::nullopt;
  return std::ranges::max_element(weights, {}, [](const auto& one) { return one.second; })->first;
}

bool splits_tokens_between(const RunLayouts& run) {
  return std::ranges::any_of(run.blocks, [](const BlockLayouts& block) {
    return std::ranges::any_of(block.chosen, [](const UnitLayout& layout) {
      return std::ranges::find(layout.out, SharedDimension::tokens) != layout.out.end();
    });
  });
}

std::optional<RankCounts> ranks_of(const RunLayouts& run) {
  RankCounts out{.scatters = splits_tokens_between(run)};
  const std::array ways = {run.shape.rows, run.shape.columns};
  for (std::size_t axis = 0; axis < kMeshAxes; ++axis) {
    if (ways[axis] == 1) continue;
    const std::optional<RankKind> dense = most_of(run, axis, false), experts = most_of(run, axis, true);
    if (experts == RankKind::expert) out.expert *= ways[axis];
    if (!dense || dense == RankKind::none || dense == RankKind::expert) return std::nullopt;
    (dense == RankKind::data ? out.data : out.tensor) *= ways[axis];
  }
  return out;
}

}  // namespace

std::optional<Scenario> nearest_scenario(const Scenario& scenario, std::span<const LayoutStage> stages) {
  const std::optional<RankCounts> ranks = ranks_of(stages.front().run);
  if (!ranks) return std::nullopt;
  Scenario s = unsplit(scenario);
  Parallelism& plan = s.parallelism;
  for (const LayoutStage& stage : stages) {
    if (stage.run.shape.devices() != stages.front().run.shape.devices() || ranks_of(stage.run) != ranks)
      return std::nullopt;
    plan.layers_per_stage.push_back(stage.layers);
  }
  if (s.training.micro_batch % ranks->data != 0) return std::nullopt;
  s.training.micro_batch /= ranks->data;
  plan.data = ranks->data;
  plan.tensor = ranks->tensor;
  plan.expert = ranks->expert;
  plan.sequence = ranks->tensor > 1 && ranks->scatters;
  plan.pipeline = static_cast<std::uint32_t>(stages.size());
  if (plan.pipeline == 1) plan.layers_per_stage.clear();
  if (!check(s).empty()) return std::nullopt;
  return s;
}

}  // namespace stepcast::search
