#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "models/layers/kernels.h"
#include "scenario/recomputed_modules.h"

namespace stepcast::schedules {

/// A tensor that an operator keeps from its forward to its backward pass.
struct SavedTensor {
  double bytes = 0;
  RecomputedModules dropped_with{};  ///< selective recomputation of any of these makes it again
};

/// One operator of a layer: what it is, the parameters it owns, and where its kernels and what it saves begin in its
/// list.
struct Operator {
  OperatorKind kind{};
  RecomputedModules modules{};   ///< selective recomputation of any of these runs it forward again
  double parameters = 0;         ///< on this rank
  double expert_parameters = 0;  ///< of those, of experts that the expert ranks share out
  bool frozen = false;           ///< none of its parameters is trained
  double gradients = 0;          ///< bytes of gradients that are there while its layer goes backward
  std::uint32_t forward = 0, backward = 0, saved = 0;
};

/// That an operator reads another one's result, by their places in the list; kListInput: what the list begins with.
struct OperatorInput {
  std::uint32_t reader = 0, of = 0;
};
inline constexpr std::uint32_t kListInput = std::numeric_limits<std::uint32_t>::max();

/// A layer, or what stands before or behind the layers, as its operators in forward order. All that is known of it is
/// told by the functions below: an operator that is written down here is in each of them. Figures are of one tensor
/// rank and one micro-batch.
struct OperatorList {
  std::vector<Operator> operators;
  Kernels forward, backward;       ///< of all operators one after the other; those of one in the order they run in
  std::vector<SavedTensor> saved;  ///< by all operators, in their order
  /// Of operators that read something else than the result of the one before them, or more: all that they read.
  std::vector<OperatorInput> inputs;

  /// Begins an operator, to which all belongs that is added from now on.
  Operator& begin(OperatorKind kind, RecomputedModules modules = {});
};

/// What its backward pass runs: the operators from the last to the first.
Kernels backward_pass(const OperatorList& list);

/// What selective recomputation of these modules runs again before the backward pass.
Kernels repeated_kernels(const OperatorList& list, const RecomputedModules& repeated);

double parameters(const OperatorList& list);
double expert_parameters(const OperatorList& list);
/// Of those, the ones that are not trained.
double frozen_parameters(const OperatorList& list);
double frozen_expert_parameters(const OperatorList& list);

/// Bytes kept for the backward pass, where these modules are repeated.
double saved_bytes(const OperatorList& list, const RecomputedModules& repeated = {});
/// Bytes of its input, which is the first tensor that it saves: all that is kept where the whole of it is repeated.
double input_bytes(const OperatorList& list);

/// Bytes of gradients that are there while it goes backward, at most, besides what it has saved. When attention's core
/// is at work, what operators behind it have saved is gone.
double gradient_bytes(const OperatorList& list);

/// Elements of the largest of its weights, of those whose gradient a multiply makes.
double largest_weight(const OperatorList& list);

}  // namespace stepcast::schedules
