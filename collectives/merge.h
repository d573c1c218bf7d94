#pragma once

#include <cstdint>
#include <span>

#include "collectives/plan.h"

namespace stepcast::collectives {

/// Adds a plan that runs beside what `to` has, on elements of its own: its rank r is rank_of[r], its element 0 is
/// `offset`, its channels follow those that `to` has. Neither waits for the other.
void append(Plan& to, const Plan& from, std::span<const std::uint32_t> rank_of, std::int64_t offset);

}  // namespace stepcast::collectives
