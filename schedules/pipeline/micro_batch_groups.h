#pragma once

#include <cstdint>

#include "schedules/pipeline/pipeline.h"

namespace stepcast::schedules {

/// Whether micro-batches can visit the chunks of several virtual stages in groups of `size`: with fewer than p of them,
/// in the last group too, the last stage would not be through with one chunk when the first stage is due for the next.
/// Source: Megatron-LM core_v0.14.0, megatron/core/pipeline_parallel/schedules.py, which raises there.
bool can_group(Shape shape, std::uint32_t size);

/// Micro-batches in a group: as the shape says, or else the fewest that can, which hold least: p where that divides the
/// micro-batches, as in Megatron-LM. Requires at least p micro-batches: all in one group can.
std::uint32_t group_size(Shape shape);

}  // namespace stepcast::schedules
