#pragma once

#include "schedules/model/writer.h"

namespace stepcast::schedules {

/// The first half of a layer: norm, projections, the core, the projection back, residual. With LatentAttention the
/// projections are low-rank (schedules/model/latent_attention.h).
void self_attention(Writer& writer);
void self_attention_backward(Writer& writer);

/// Turns queries and keys by their positions, where the model does so.
void rotary_positions(Writer& writer);

/// Rotary positions, scores, softmax, dropout, weighted sum: between the projections. `positions`: relative positions
/// are added.
void attention_core(Writer& writer, bool positions);
void attention_core_backward(Writer& writer, bool positions);

}  // namespace stepcast::schedules
