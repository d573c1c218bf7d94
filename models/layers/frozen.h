#pragma once

#include "models/layers/blocks.h"
#include "scenario/scenario.h"

namespace stepcast::schedules {

/// Takes the backward passes away of what nothing before and in is trained: of all up to the last of
/// training.frozen_layers, or with adapters (scenario/lora.h) of what stands before the layers. It runs forward, saves
/// nothing, and has no backward pass, no gradient and no optimizer state (Liu et al., "AutoFreeze", arXiv 2102.01386;
/// Wang et al., "Egeria", EuroSys 2023). A matrix that the embedding shares with the head is still trained by the head,
/// unless adapters alone are. The first layer that is not frozen still computes its input's gradient: an upper bound,
/// by one multiply. Requires less than all layers.
void freeze(Blocks& blocks, const Training& training);

/// Parameters of the block at a place that have gradients and optimizer state; and those of experts that the expert
/// ranks share out.
double trained_parameters(const Block& block);
double trained_expert_parameters(const Block& block);

/// Its parameters, as many as would take the bytes that they do in the training's precision: fewer than they are where
/// a layer's own are kept in 4 bits (Lora::base); and those of experts that the expert ranks share out.
double stored_parameters(const Training& training, const Block& block);
double stored_expert_parameters(const Training& training, const Block& block);

/// Of some chunks, of those that one rank holds together.
double trained_parameters(const Blocks& blocks, std::span<const BlockRange> chunks);

/// Whether a chunk takes the gradient of its output.
bool goes_backward(const Blocks& blocks, const BlockRange& chunk);

}  // namespace stepcast::schedules
