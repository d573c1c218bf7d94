#pragma once

#include "models/layers/operator_list.h"
#include "scenario/scenario.h"

namespace stepcast::schedules {

/// What recomputation makes of a layer.
struct Recomputation {
  double kept = 0;    ///< bytes, the layer's input among them
  double unread = 0;  ///< of those, what backward does not read
  Kernels repeated;   ///< what backward runs again
};

/// Checkpointing by operator keeps what is expensive to make and repeats the rest: of the multiplies with a weight it
/// keeps every second result, beginning with the first, and the results of fused attention, of reduce_scatter and of
/// all_to_all. Weights that a stack of kernels multiplies together (queries, keys, values; gate and up) count one by
/// one, in this order, with biases or without. A router's multiply and those of experts are repeated. Eager PyTorch
/// keeps and repeats results that backward does not read; a compiled layer leaves them out, but for what is exchanged.
/// Source: _apply_op_sac of torchtitan/distributed/activation_checkpoint.py and op_sac_save_list of
/// models/*/infra/parallelize.py, github.com/pytorch/torchtitan v0.2.2 (@73a0e69).
Recomputation recompute_by_operator(const Scenario& scenario, const OperatorList& list);

}  // namespace stepcast::schedules
