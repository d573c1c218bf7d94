#include "models/layers/frozen.h"

#include <cmath>
#include <map>
#include <utility>

namespace stepcast::schedules {

void freeze(Blocks& blocks, const Training& training) {
  const bool adapters = trains_adapters(training);
  if (training.frozen_layers == 0 && !adapters) return;
  blocks.trains_tied = !adapters;
  std::vector<Block> kinds;
  std::map<std::pair<std::uint32_t, bool>, std::uint32_t> numbers;
  std::int64_t seen = 0;
  for (std::uint32_t place = 0; place < blocks.order.size(); ++place) {
    std::uint32_t& kind = blocks.order[place];
    const Block& block = blocks.kinds[kind];
    const bool frozen = seen < training.frozen_layers || (adapters && seen == 0 && !block.layer);
    if (block.layer) ++seen;
    const auto [known, fresh] = numbers.try_emplace({kind, frozen}, static_cast<std::uint32_t>(kinds.size()));
    if (fresh) {
      Block& copy = kinds.emplace_back(block);
      if (frozen) {
        copy.frozen = true;
        copy.frozen_parameters = copy.parameters - (place == 0 && blocks.trains_tied ? blocks.tied : 0);
        copy.frozen_expert_parameters = copy.expert_parameters;
        copy.backward.clear();
        copy.recompute.clear();
        copy.saved = copy.saved_by_loss = copy.for_weights = copy.working = 0;
      }
    }
    kind = known->second;
  }
  blocks.kinds = std::move(kinds);
}

double trained_parameters(const Block& block) { return block.parameters - block.frozen_parameters; }
double trained_expert_parameters(const Block& block) {
  return block.expert_parameters - block.frozen_expert_parameters;
}

namespace {

/// What a parameter in 4 bits lacks of one in the training's precision.
double saved_share(const Training& training, const Block& block) {
  if (!block.layer || !keeps_four_bits(training)) return 0;
  return 1 - base_weight_bytes(training) / static_cast<double>(element_bytes(training.precision));
}

/// Up to a whole number of what many ranks can share evenly.
double rounded_up(double parameters) {
  constexpr double kShared = 4096;
  return std::ceil(parameters / kShared) * kShared;
}

}  // namespace

double stored_parameters(const Training& training, const Block& block) {
  const double share = saved_share(training, block);
  return share == 0 ? block.parameters : rounded_up(block.parameters - block.frozen_parameters * share);
}

double stored_expert_parameters(const Training& training, const Block& block) {
  const double share = saved_share(training, block);
  return share == 0 ? block.expert_parameters
                    : rounded_up(block.expert_parameters - block.frozen_expert_parameters * share);
}

double trained_parameters(const Blocks& blocks, std::span<const BlockRange> chunks) {
  double frozen = 0;
  bool first = false, copy = false;
  const std::uint32_t copy_at = tied_place(blocks);
  for (const std::uint32_t place : places(chunks)) {
    frozen += blocks.at(place).frozen_parameters;
    first = first || place == 0;
    copy = copy || place == copy_at;
  }
  // One copy of what is tied counts among the parameters, but with adapters both are frozen.
  if (first && copy && !blocks.trains_tied) frozen -= blocks.tied;
  return parameters(blocks, chunks) - frozen;
}

bool goes_backward(const Blocks& blocks, const BlockRange& chunk) {
  return !blocks.at(chunk.first + chunk.count - 1).frozen;
}

}  // namespace stepcast::schedules
