#pragma once

#include "schedules/model/blocks.h"
#include "schedules/model/writer.h"
#include "schedules/scenario.h"

namespace stepcast::schedules {

/// gpt, llama and moe: the embedding, every layer, the head (last norm, logits, cross entropy). bert and vit:
/// encoder_blocks(), t5: encoder_decoder_blocks().
Blocks transformer_blocks(const Scenario& scenario);

/// What follows attention in a layer: norm, feed-forward block or experts, residual.
void second_half(Writer& writer, FeedForward kind = FeedForward::dense);

/// A layer of self-attention and what follows it.
OperatorList layer_operators(const Scenario& scenario, const StackSizes& sizes, FeedForward kind = FeedForward::dense);

}  // namespace stepcast::schedules
