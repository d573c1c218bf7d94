#pragma once

#include "models/layers/kernels.h"

namespace stepcast::schedules {

/// Bytes that a pass streams through memory in kernels of one kind.
inline double touched_bytes(const Kernels& pass, OperatorKind kind) {
  double sum = 0;
  for (const Kernel& op : pass)
    if (const auto* kernel = std::get_if<Elementwise>(&op); kernel != nullptr && kernel->kind == kind)
      sum += kernel->bytes;
  return sum;
}

/// Bytes that a pass gathers from the other ranks, with its own.
inline double gathered_bytes(const Kernels& pass) {
  double sum = 0;
  for (const Kernel& op : pass)
    if (const auto* traffic = std::get_if<TensorCollective>(&op);
        traffic != nullptr && traffic->operation == collectives::Operation::all_gather)
      sum += static_cast<double>(traffic->bytes.value);
  return sum;
}

}  // namespace stepcast::schedules
