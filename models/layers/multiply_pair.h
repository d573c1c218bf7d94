#pragma once

#include <cstdint>

#include "models/layers/writer.h"

namespace stepcast::schedules {

/// The two multiplies of half a layer (queries, keys, values and projection; in and out), as Parallelism::tensor_method
/// splits them. What enters the first and leaves the second is whole on every tensor rank; between them each has its
/// own heads or inner features, whatever the method:
///   megatron          columns, then rows; one sum behind the second (Shoeybi et al. 2019, arXiv 1909.08053, sec. 3)
///   partition output  columns, and columns: the second one's input and output are gathered
///   reduce output     rows, and rows: the first one's partial outputs are summed and shared out, the second one's
///   summed
/// Backward mirrors it. With several rows of tensor ranks (Parallelism::tensor_grid) these share what megatron leaves
/// whole, hidden, and sum what the first multiply makes of it. Filter and channel parallelism of Kahira et al., HPDC
/// 2021 (arXiv 2104.09075), with each sum that only one rank needs a part of as a reduce-scatter. Ranks cut their part
/// out of a whole tensor, and join parts to one, by a copy, as Megatron-LM's mappings do.

/// `columns`, `inner`: between the two, on this rank.
void first_multiply(Writer& w, OperatorKind kind, std::int64_t columns);
void second_multiply(Writer& w, OperatorKind kind, std::int64_t inner);

}  // namespace stepcast::schedules
