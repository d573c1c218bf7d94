#pragma once

#include <span>
#include <vector>

#include "sim/units.h"

namespace stepcast::schedules {

/// `whole` in shares that are in proportion to the weights to within a picosecond and add up to it exactly: each is
/// rounded down, and what is left goes, a picosecond each, to those that lost most, of equals to the first. Where all
/// weights are 0 the first has all. Requires whole >= 0, weights >= 0 and at least one.
std::vector<Time> share_out(Time whole, std::span<const double> weights);

/// The mean of `count` times each, given their sums, so that the means add up to `whole` exactly, as above. Requires
/// the sums to add up to less than (whole + 1) * count, and no less than whole * count.
std::vector<Time> means(Time whole, std::span<const Time> sums, std::int64_t count);

}  // namespace stepcast::schedules
