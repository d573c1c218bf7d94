#pragma once

#include "models/layers/blocks.h"
#include "scenario/scenario.h"

namespace stepcast::schedules {

/// t5: the encoder's stack, then the decoder's, whose layers attend to themselves and to the encoder's output. The
/// first stage looks up both sides' tokens, so what one stage passes to the next is always both: the decoder's tokens
/// wait while the encoder runs, the encoder's output travels with the decoder. Relative positions' biases are learned
/// once for all layers of a stack. The encoder's output is kept for backward once by every model chunk that has decoder
/// layers.
Blocks encoder_decoder_blocks(const Scenario& scenario);

}  // namespace stepcast::schedules
