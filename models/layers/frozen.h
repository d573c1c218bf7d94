#pragma once

#include "models/layers/blocks.h"

namespace stepcast::schedules {

/// Freezes all up to the `layers`-th layer, the embedding included: it runs forward, saves nothing, and has no backward
/// pass, no gradient and no optimizer state (Liu et al., "AutoFreeze", arXiv 2102.01386; Wang et al., "Egeria", EuroSys
/// 2023). A matrix that the embedding shares with the head is still trained by the head. The first layer that is not
/// frozen still computes its input's gradient: an upper bound, by one multiply. Requires less than all layers.
void freeze(Blocks& blocks, std::int64_t layers);

/// Parameters of the block at a place that have no gradient.
double frozen_parameters(const Blocks& blocks, std::uint32_t place);

/// Parameters of some chunks that have gradients and optimizer state, of those that one rank holds together.
double trained_parameters(const Blocks& blocks, std::span<const BlockRange> chunks);

/// Whether a chunk takes the gradient of its output.
bool goes_backward(const Blocks& blocks, const BlockRange& chunk);

}  // namespace stepcast::schedules
