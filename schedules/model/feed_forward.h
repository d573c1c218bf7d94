#pragma once

#include "schedules/model/writer.h"

namespace stepcast::schedules {

/// A feed-forward block of `inner` width on this tensor rank, between norm and residual: in, activation, out.
void feed_forward(Writer& writer, std::int64_t inner);
void feed_forward_backward(Writer& writer, std::int64_t inner);

/// Its parts: columns of the multiply in front (gate and up), and what stands between the two multiplies.
std::int64_t feed_forward_columns(const Writer& writer, std::int64_t inner);
void activation_forward(Writer& writer, std::int64_t inner);
void activation_backward(Writer& writer, std::int64_t inner);

}  // namespace stepcast::schedules
