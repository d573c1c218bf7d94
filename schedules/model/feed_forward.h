#pragma once

#include "schedules/model/writer.h"

namespace stepcast::schedules {

/// A feed-forward block of `inner` width on this tensor rank, between norm and residual: in, activation, out.
void feed_forward(Writer& writer, std::int64_t inner);
void feed_forward_backward(Writer& writer, std::int64_t inner);

}  // namespace stepcast::schedules
