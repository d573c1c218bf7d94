#pragma once

#include "schedules/model/blocks.h"
#include "schedules/model/writer.h"
#include "schedules/scenario.h"

namespace stepcast::schedules {

/// gpt, llama and moe: the embedding, every layer, the head (last norm, logits, cross entropy). bert and vit:
/// encoder_blocks(), t5: encoder_decoder_blocks().
Blocks transformer_blocks(const Scenario& scenario);

/// What full recomputation repeats of a forward pass. Where it stops early, all up to the last multiply: its output is
/// an input of nothing in the layer's backward pass, unless dropout behind it has a mask.
Operators repeated(const Scenario& scenario, Operators forward);

/// What the feed-forward block's backward pass holds beside what was saved: gradients of its output, of what enters its
/// second multiply, and of what leaves its first.
double gradients_in_work(const Scenario& scenario, const StackSizes& sizes, FeedForward kind = FeedForward::dense);

/// What follows attention in a layer: norm, feed-forward block or experts, residual.
void second_half(Writer& writer, FeedForward kind = FeedForward::dense);
void second_half_backward(Writer& writer, FeedForward kind = FeedForward::dense);

/// A layer of self-attention and what follows it.
Block layer_block(const Scenario& scenario, const StackSizes& sizes, FeedForward kind = FeedForward::dense);

}  // namespace stepcast::schedules
