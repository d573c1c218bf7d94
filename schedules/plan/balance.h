#pragma once

#include <array>
#include <cstdint>
#include <functional>

#include "sim/units.h"

namespace stepcast::schedules {

/// Data ranks of two kinds that share a batch.
struct TwoKinds {
  std::array<std::uint32_t, 2> ranks;
  std::int64_t samples = 0;  ///< of all of them together, in one round of micro-batches
};

/// Samples that each rank of a kind takes.
using Shares = std::array<std::int64_t, 2>;

/// The whole shares, at least 1 each, whose slower kind is done first: in proportion to speed, as far as whole samples
/// go. `time(kind, samples)`: what a rank of a kind takes, not falling with samples. Without a way to share all
/// samples, equal ones. O(samples / ranks) at most, one call of `time` for each share tried; it stops where the other
/// kind is done earlier.
Shares balance(const TwoKinds& kinds, const std::function<Time(std::size_t, std::int64_t)>& time);

/// Whether any whole shares are unequal.
bool has_unequal_shares(const TwoKinds& kinds);

}  // namespace stepcast::schedules
