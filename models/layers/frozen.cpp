#include "models/layers/frozen.h"

#include <map>
#include <utility>

namespace stepcast::schedules {

void freeze(Blocks& blocks, std::int64_t layers) {
  if (layers == 0) return;
  std::vector<Block> kinds;
  std::map<std::pair<std::uint32_t, bool>, std::uint32_t> numbers;
  std::int64_t seen = 0;
  for (std::uint32_t& kind : blocks.order) {
    const Block& block = blocks.kinds[kind];
    const bool frozen = seen < layers;
    if (block.layer) ++seen;
    const auto [known, fresh] = numbers.try_emplace({kind, frozen}, static_cast<std::uint32_t>(kinds.size()));
    if (fresh) {
      Block& copy = kinds.emplace_back(block);
      if (frozen) {
        copy.frozen = true;
        copy.backward.clear();
        copy.recompute.clear();
        copy.saved = copy.saved_by_loss = copy.for_weights = copy.working = 0;
      }
    }
    kind = known->second;
  }
  blocks.kinds = std::move(kinds);
}

double frozen_parameters(const Blocks& blocks, std::uint32_t place) {
  const Block& block = blocks.at(place);
  if (!block.frozen) return 0;
  return place == 0 ? block.parameters - blocks.tied : block.parameters;
}

double trained_parameters(const Blocks& blocks, std::span<const BlockRange> chunks) {
  double frozen = 0;
  for (const std::uint32_t place : places(chunks)) frozen += frozen_parameters(blocks, place);
  return parameters(blocks, chunks) - frozen;
}

bool goes_backward(const Blocks& blocks, const BlockRange& chunk) {
  return !blocks.at(chunk.first + chunk.count - 1).frozen;
}

}  // namespace stepcast::schedules
