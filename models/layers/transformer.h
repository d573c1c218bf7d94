#pragma once

#include "models/layers/blocks.h"
#include "scenario/scenario.h"

namespace stepcast::schedules {

/// gpt, llama and moe: the embedding, every layer, the head (last norm, logits, cross entropy). bert and vit:
/// encoder_blocks(), t5: encoder_decoder_blocks().
Blocks transformer_blocks(const Scenario& scenario);

}  // namespace stepcast::schedules
