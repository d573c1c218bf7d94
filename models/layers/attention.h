#pragma once

#include "models/layers/writer.h"

namespace stepcast::schedules {

/// The first half of a layer: norm, projections, the core, the projection back, residual. With LatentAttention the
/// projections are low-rank (models/layers/latent_attention.h).
void self_attention(Writer& writer);

/// Parameters of the biases of queries, keys and values on this rank.
double query_key_value_biases(const Scenario& scenario, const StackSizes& sizes);

/// Norms of each head's queries and keys, where the model has them.
void query_key_norms(Writer& writer);

/// Whether self-attention adds a bias to its scores that tells positions apart.
bool biased_scores(const Model& model);

/// Rotary positions, scores, softmax, dropout, weighted sum: between the projections. `biased`: a bias is added to the
/// scores, relative positions or ALiBi.
void attention_core(Writer& writer, bool biased);

/// Bytes of the core's result that the projection behind it keeps.
double kept_core_result(const Scenario& scenario, const StackSizes& sizes);

}  // namespace stepcast::schedules
