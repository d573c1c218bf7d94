#pragma once

#include "schedules/model/writer.h"

namespace stepcast::schedules {

/// The first half of a layer: norm, projections, the core, the projection back, residual. With LatentAttention the
/// projections are low-rank (schedules/model/latent_attention.h).
void self_attention(Writer& writer);
void self_attention_backward(Writer& writer);

/// Norms of each head's queries and keys, where the model has them.
void query_key_norms(Writer& writer);
void query_key_norms_backward(Writer& writer);
/// Bytes they keep for backward: their input.
double saved_by_query_key_norms(const Scenario& scenario, const StackSizes& sizes);

/// Turns queries and keys by their positions, where the model does so.
void rotary_positions(Writer& writer);

/// Whether self-attention adds a bias to its scores that tells positions apart.
bool biased_scores(const Model& model);

/// Rotary positions, scores, softmax, dropout, weighted sum: between the projections. `biased`: a bias is added to the
/// scores, relative positions or ALiBi.
void attention_core(Writer& writer, bool biased);
void attention_core_backward(Writer& writer, bool biased);

}  // namespace stepcast::schedules
