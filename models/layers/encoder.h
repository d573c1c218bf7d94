#pragma once

#include "models/layers/blocks.h"
#include "scenario/scenario.h"

namespace stepcast::schedules {

/// Tokens of one sample: of vit, its patches and the class token.
std::int64_t tokens_of_sample(const Scenario& scenario);

/// bert: embedding of words, positions and segments with its norm; layers; pooler, next-sentence head, masked-word head
/// with the embedding's matrix. The norms stand behind each half of a layer instead of before it, which changes no
/// size. vit: patches as one multiply, class token, positions; layers; norm and class head on the class token.
/// Pooler, heads and patches are the same on every tensor rank, as Megatron-LM has them.
Blocks encoder_blocks(const Scenario& scenario);

}  // namespace stepcast::schedules
