#pragma once

#include <cstdint>
#include <string_view>
#include <variant>
#include <vector>

#include "collectives/operation.h"
#include "schedules/cost/gemm.h"
#include "schedules/model/model.h"
#include "schedules/scenario.h"

namespace stepcast::schedules {

/// A matrix multiply on one tensor rank.
struct Gemm {
  std::string_view name;
  GemmShape shape;
};

/// A kernel bound by memory traffic: everything that is neither a multiply nor fused attention.
struct Elementwise {
  std::string_view name;
  double bytes = 0;  ///< read and written
  int kernels = 1;   ///< launches it takes
};

/// Attention in one kernel (FlashAttention): multiplies at their own rate, the score matrix never in memory.
struct FusedAttention {
  std::string_view name;
  Flops flops{};  ///< of the full square; the GPU's rate for it counts the causal half as skipped
  bool backward = false;
  int kernels = 1;
};

/// Traffic between the tensor ranks. `under_next`: it may run beside the kernel that follows it in the list.
struct TensorCollective {
  std::string_view name;
  collectives::Operation operation{};
  Bytes bytes{};
  bool under_next = false;
};

using Operator = std::variant<Gemm, Elementwise, FusedAttention, TensorCollective>;
using Operators = std::vector<Operator>;

/// What one tensor rank does, in order, for one micro-batch.
struct LayerOperators {
  Operators forward;
  Operators backward;        ///< without recomputation
  Operators recompute_core;  ///< what selective recomputation repeats: the attention core
};
LayerOperators layer_operators(const Scenario& scenario);

struct PartOperators {
  Operators forward, backward;
};
/// First stage: word (and position) embedding. Last stage: last norm, logits, cross entropy.
PartOperators embedding_operators(const Scenario& scenario);
PartOperators head_operators(const Scenario& scenario);

}  // namespace stepcast::schedules
