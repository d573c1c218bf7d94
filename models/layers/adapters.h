#pragma once

#include <cstdint>

#include "models/layers/writer.h"

namespace stepcast::schedules {

/// Writes the adapters beside the first or the second multiply of half a layer, right behind it. `columns`: that the
/// first one makes on this rank; `inner`: that enter the second one. Each adapter takes what enters the multiply,
/// through dropout if it has any, and what its two narrow multiplies make of that, times alpha / rank, is added to what
/// the multiply makes; backward has the gradient of each. All of it is in 16 bits, also where the multiply itself is
/// in 8. Tensor ranks share A and B as those of Megatron-Bridge and NeMo do (ParallelLinearAdapter of peft/utils.py):
/// of a first multiply the columns of A, whose results are gathered, and those of B; of a second one the rows of A,
/// whose results are summed, and the columns of B, whose results are gathered, or exchanged for all columns of a rank's
/// own tokens (a2a_experimental).
void adapt_first(Writer& w, OperatorKind multiply, std::int64_t columns);
void adapt_second(Writer& w, OperatorKind multiply, std::int64_t inner);

/// Rows of experts on one rank.
struct ExpertRows {
  std::int64_t each = 0, experts = 0;  ///< of each expert, and how many
  int kernels = 1;                     ///< launches of one multiply of all of them
  bool shared_out = false;             ///< other expert ranks have other experts
};
/// Those of experts, each of which has its own.
void adapt_experts(Writer& w, OperatorKind multiply, const ExpertRows& rows, std::int64_t in, std::int64_t out);

}  // namespace stepcast::schedules
