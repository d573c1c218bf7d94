#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "scenario/scenario.h"
#include "schedules/results/results.h"

namespace stepcast::schedules {

/// How the peak compares with the GPU, without advice (schedules/plan/advice.h): nothing where it fits.
std::optional<OutOfMemory> out_of_memory(const Scenario& scenario, std::uint32_t stage, const MemoryUse& use);

/// How what the GPUs of a node have offloaded to `tier`, most of it from a GPU of `stage`, compares with `available`.
std::optional<OutOfMemory> out_of_memory(std::uint32_t stage, Tier tier, const Offloaded& use, Bytes available);

/// What most of it is: "activations 51.2 GiB".
std::string largest_in_words(const OutOfMemory& over);

}  // namespace stepcast::schedules
