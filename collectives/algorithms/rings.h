#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "collectives/request.h"

namespace stepcast::collectives {

/// The plan of all_reduce, all_gather, reduce_scatter, broadcast or reduce over given rings, one channel each and equal
/// shares: what algorithm "ring" does over its own. Rings visit every rank once and may start anywhere. Ignores fold.
CollectivePlan plan_rings(const Request& request, std::span<const std::vector<std::uint32_t>> rings);

}  // namespace stepcast::collectives
