#include "collectives/patterns.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace stepcast::collectives {

extern const Pattern incast, permutation;

std::span<const Pattern* const> patterns() {
  static constexpr std::array list = {&incast, &permutation};
  return list;
}

CollectivePlan flows_of(std::span<const std::int64_t> weights, std::uint32_t ranks, Bytes bytes) {
  const std::int64_t largest = weights.empty() ? 0 : *std::ranges::max_element(weights);
  CollectivePlan plan;
  plan.ranks = ranks;
  for (std::uint32_t source = 0; source < ranks; ++source) {
    for (std::uint32_t destination = 0; destination < ranks; ++destination) {
      const std::int64_t weight = weights[std::size_t{source} * ranks + destination];
      if (weight == 0) continue;
      const double share = static_cast<double>(weight) / static_cast<double>(largest);
      const ChunkId chunk = plan.add_chunk({0, std::llround(share * static_cast<double>(bytes.value))});
      plan.add({plan.connect(source, destination, 0), chunk, Effect::copy});
    }
  }
  return plan;
}

}  // namespace stepcast::collectives
