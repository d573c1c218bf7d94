#pragma once

#include <cstdint>
#include <optional>

#include "schedules/forecast.h"

namespace stepcast::schedules {

/// How the peak compares with the GPU: nothing where it fits.
std::optional<OutOfMemory> out_of_memory(const Scenario& scenario, std::uint32_t stage, const MemoryUse& use);

/// Likewise what the GPUs of a node have offloaded to `tier`, most of it from a GPU of `stage`.
std::optional<OutOfMemory> out_of_memory(const Scenario& scenario, std::uint32_t stage, Tier tier, const Offloaded& use,
                                         Bytes available);

}  // namespace stepcast::schedules
