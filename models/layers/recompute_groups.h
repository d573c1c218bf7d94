#pragma once

#include <span>

#include "models/layers/blocks.h"
#include "scenario/scenario.h"

namespace stepcast::schedules {

/// Whether what is recomputed depends on the model chunk that a layer is in.
inline bool recomputes_in_groups(const Scenario& s) { return s.recompute_group > 1 || s.recompute_layers; }

/// The scenario's blocks where full recomputation repeats several layers from one kept input, or only some layers:
/// Megatron-LM's methods `uniform` and `block` (--recompute-method, --recompute-num-layers). Of every range's layers
/// the first `recompute_layers` are recomputed, in groups of `recompute_group` that keep the first one's input alone;
/// while a group is in its backward pass, the activations of all its layers are there. Other layers keep all they
/// saved. `ranges`: the model chunks; a group never spans two, and the first one of a chunk begins with its first layer
/// that is trained. Of scenarios for which recomputes_in_groups() does not hold these are blocks() alone.
Blocks with_recomputation(const Scenario& scenario, std::span<const BlockRange> ranges);

}  // namespace stepcast::schedules
