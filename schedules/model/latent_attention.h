#pragma once

#include "schedules/model/writer.h"

namespace stepcast::schedules {

/// Queries, keys and values of multi-head latent attention from a layer's input (DeepSeek-V2, arXiv 2405.04434, sec.
/// 2.1): down to the ranks, norms, up to the heads. Every tensor rank projects down the tokens that it has; with
/// sequence parallelism only the narrow results are gathered. The ups are split over the heads.
void latent_projections(Writer& writer);
void latent_projections_backward(Writer& writer);

/// Of these, from what the downs gave on: norms, ups, the parts joined.
void latent_ups(Writer& writer);

/// Bytes that they keep for the backward pass: the inputs of norms and ups; of norms alone where the ups are repeated.
double saved_latent_bytes(const Scenario& scenario, const StackSizes& sizes, bool ups_repeated = false);

}  // namespace stepcast::schedules
