#pragma once

#include "models/layers/make_block.h"
#include "models/layers/stack_sizes.h"
#include "models/layers/transformer.h"
#include "models/layers/transformer_layer.h"

namespace stepcast::schedules {

/// Activation bytes that one layer of self-attention and feed-forward block keeps for the backward pass, for one
/// micro-batch on one tensor rank.
inline double saved_activation_bytes(Scenario s, const StackSizes& sizes, Recompute recompute,
                                     FeedForward kind = FeedForward::dense) {
  s.recompute = recompute;
  const OperatorList layer = layer_operators(s, sizes, {Mixer::attention, kind});
  return recompute == Recompute::full ? input_bytes(layer) : saved_bytes(layer, repeated_modules(s));
}

}  // namespace stepcast::schedules
