#pragma once

#include "models/layers/expert_load.h"
#include "models/layers/writer.h"

namespace stepcast::schedules {

/// Experts that a loop on the host visits one after the other (Software::expert_loop), all of them on this rank, with
/// what picks each one's tokens before and adds its results up behind it.
void expert_loop(Writer& writer, const Routing& routing);

}  // namespace stepcast::schedules
