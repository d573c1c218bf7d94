#pragma once

#include "schedules/model/blocks.h"
#include "schedules/scenario.h"

namespace stepcast::schedules {

/// The embedding, every layer, the head (last norm, logits, cross entropy).
Blocks transformer_blocks(const Scenario& scenario);

}  // namespace stepcast::schedules
