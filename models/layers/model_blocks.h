#pragma once

#include "models/layers/blocks.h"
#include "scenario/scenario.h"

namespace stepcast::schedules {

/// The scenario's model, cut for its tensor ranks. Requires check() to be empty.
Blocks blocks(const Scenario& scenario);

}  // namespace stepcast::schedules
