#pragma once

#include <cstdint>

#include "collectives/plan.h"

namespace stepcast::collectives {

/// Adds a plan of the same ranks that runs beside what `to` has, on elements of its own: its element 0 is `offset`, its
/// channels follow those that `to` has. Neither waits for the other.
void append(CollectivePlan& to, const CollectivePlan& from, std::int64_t offset);

}  // namespace stepcast::collectives
