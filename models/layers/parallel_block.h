#pragma once

#include "models/layers/writer.h"

namespace stepcast::schedules {

/// A layer of ParallelBlock: attention and feed-forward block start from the layer's input and are added to it
/// together. On tensor ranks their partial results are added first, so that one sum over the ranks serves both (Wang
/// and Komatsuzaki 2021, GPT-J; Chowdhery et al. 2022, arXiv 2204.02311, sec. 2). Requires a variation other than none
/// and Megatron's tensor method.
void parallel_block(Writer& writer);

}  // namespace stepcast::schedules
