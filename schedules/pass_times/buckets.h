#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "schedules/pass_times/chunks.h"

namespace stepcast::schedules {

/// Pieces, counted from the back, that close a bucket: gradients leave once there are `full` of them, in elements, and
/// when the last have come.
std::vector<std::size_t> bucket_ends(std::span<const Piece> pieces, double full);

}  // namespace stepcast::schedules
