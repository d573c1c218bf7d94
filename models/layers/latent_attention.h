#pragma once

#include "models/layers/writer.h"

namespace stepcast::schedules {

/// Queries, keys and values of multi-head latent attention from a layer's input (DeepSeek-V2, arXiv 2405.04434, sec.
/// 2.1): down to the ranks, norms, up to the heads. Every tensor rank projects down the tokens that it has; with
/// sequence parallelism only the narrow results are gathered. The ups are split over the heads. Backward keeps the
/// inputs of norms and ups; of norms alone where the ups are repeated.
void latent_projections(Writer& writer);

}  // namespace stepcast::schedules
