#include "models/layers/recompute_groups.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "models/layers/model_blocks.h"

namespace stepcast::schedules {
namespace {

/// What recomputation makes of a layer.
struct Treatment {
  bool recomputed = true;
  bool keeps_input = true;  ///< the first of its group
  bool stops_early = true;  ///< the last of its group: the others' outputs are needed, whatever the software leaves out
  double others_saved = 0;  ///< bytes that the rest of its group saves again while the group goes backward

  auto operator<=>(const Treatment&) const = default;
};

Scenario without_recomputation(Scenario s) {
  s.recompute = Recompute::none;
  return s;
}

Scenario to_the_end(Scenario s) {
  s.software.recompute_stops_early = false;
  return s;
}

class Regrouping {
 public:
  explicit Regrouping(const Scenario& s)
      : recomputed_(blocks(s)), plain_(blocks(without_recomputation(s))), group_(s.recompute_group) {
    if (group_ > 1 && s.software.recompute_stops_early) whole_ = blocks(to_the_end(s));
    out_.tied = recomputed_.tied;
    out_.tied_place = recomputed_.tied_place;
    out_.order.resize(recomputed_.order.size());
    std::int64_t layers = 0;
    while (first_trained_ < recomputed_.order.size() && layers < s.training.frozen_layers)
      if (recomputed_.at(first_trained_++).layer) ++layers;
  }

  /// `most_layers`: how many of the range's, among them frozen ones, which keep nothing and belong to no group.
  void add(const BlockRange& range, std::uint32_t most_layers) {
    std::vector<std::uint32_t> layers;
    std::uint32_t frozen = 0;
    for (const std::uint32_t place : places({&range, 1})) {
      if (!recomputed_.at(place).layer) {
        put(place, {});
      } else if (place < first_trained_) {
        put(place, {});
        ++frozen;
      } else {
        layers.push_back(place);
      }
    }
    const std::size_t repeated = std::min<std::size_t>(layers.size(), most_layers - std::min(most_layers, frozen));
    for (std::size_t first = 0; first < repeated; first += group_) {
      const std::size_t end = std::min(first + group_, repeated);
      double saved = 0;
      for (std::size_t i = first; i < end; ++i) saved += plain_.at(layers[i]).saved;
      for (std::size_t i = first; i < end; ++i)
        put(layers[i], {true, i == first, !whole_ || i + 1 == end, saved - plain_.at(layers[i]).saved});
    }
    for (std::size_t i = repeated; i < layers.size(); ++i) put(layers[i], {.recomputed = false});
  }

  Blocks take() { return std::move(out_); }

 private:
  void put(std::uint32_t place, const Treatment& treatment) {
    const auto [known, fresh] =
        kinds_.try_emplace({recomputed_.order[place], treatment}, static_cast<std::uint32_t>(out_.kinds.size()));
    out_.order[place] = known->second;
    if (!fresh) return;
    Block& block = out_.kinds.emplace_back(treatment.recomputed ? recomputed_.at(place) : plain_.at(place));
    block.working += treatment.others_saved;
    if (!treatment.stops_early) block.recompute = whole_->at(place).recompute;
    if (treatment.keeps_input) return;
    block.saved = 0;
    if (!block.recompute.empty() && kind(block.recompute.front()) == OperatorKind::checkpoint_gather)
      block.recompute.erase(block.recompute.begin());
  }

  const Blocks recomputed_, plain_;
  std::optional<Blocks> whole_;  ///< repeated to the end, where the software stops early and groups have several layers
  const std::size_t group_;
  std::uint32_t first_trained_ = 0;  ///< the place behind the last frozen layer
  std::map<std::pair<std::uint32_t, Treatment>, std::uint32_t> kinds_;
  Blocks out_;
};

}  // namespace

Blocks with_recomputation(const Scenario& s, std::span<const BlockRange> ranges) {
  if (!recomputes_in_groups(s)) return blocks(s);
  std::vector<BlockRange> in_order(ranges.begin(), ranges.end());
  std::ranges::sort(in_order, {}, &BlockRange::first);
  Regrouping regrouping(s);
  for (const BlockRange& range : in_order)
    regrouping.add(range, s.recompute_layers.value_or(std::numeric_limits<std::uint32_t>::max()));
  return regrouping.take();
}

}  // namespace stepcast::schedules
