#pragma once

#include <algorithm>
#include <cstdint>

#include "collectives/algorithm.h"

namespace stepcast::collectives {

/// In how many pieces a pipelined algorithm cuts one channel's elements: pieces of at most `grain`, but no more than
/// 256 of them and no more than about a million transfers in the plan. At least 1.
constexpr std::uint32_t pieces(const Request& request, std::uint32_t channels, std::uint32_t hops_per_rank) {
  const std::int64_t grain = std::max<std::int64_t>(request.grain, 1);
  const std::int64_t share = (request.elements + channels - 1) / channels;
  const std::int64_t transfers_per_piece = std::int64_t{request.ranks} * channels * hops_per_rank;
  const std::int64_t most = std::clamp<std::int64_t>(1'000'000 / transfers_per_piece, 1, 256);
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>((share + grain - 1) / grain, 1, most));
}

}  // namespace stepcast::collectives
