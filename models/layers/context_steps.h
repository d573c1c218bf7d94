#pragma once

#include "models/layers/writer.h"

namespace stepcast::schedules {

/// Elements of keys and values of a rank's tokens as fused attention gets them: with software.repeated_keys_values as
/// many heads as queries have.
double attended_keys_values(const Scenario& scenario, const StackSizes& sizes);

/// Whether attention of ranks that share a sequence goes step by step, joined in fp32 (software.context_in_steps).
bool goes_in_context_steps(const Scenario& scenario);

/// Kernels and traffic of one rank, as PyTorch's context_parallel runs them (torch/distributed/tensor/experimental/
/// _attention.py, @1963fc8): one attention kernel for the keys and values of each rank, all of the same work, as every
/// rank has an early and a late part of the sequence. `flops`: of the full square of all steps. Requires several
/// context ranks.
void context_steps_forward(PassWriter& w, double flops);
void context_steps_backward(PassWriter& w, double flops);

}  // namespace stepcast::schedules
