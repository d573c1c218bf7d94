#pragma once

#include <cstdint>
#include <vector>

#include "calibrate/measure/host/kernel_case.h"

namespace stepcast::measure {

/// What the plan has to know of the GPU.
struct PlanLimits {
  std::int64_t memory_bytes = 0;  ///< free on the GPU; no case needs more than half of it
  int compute_capability = 90;    ///< times ten: 80 and up has tf32 and bf16, 89 and up fp8
  bool quick = false;             ///< cases of rank 0 alone
};

/// The kernels to measure, most valuable first: by rank, and inside a rank in an order that a cut-off leaves
/// representative (by a hash of the shape). The same list on every machine with the same limits; no case twice.
std::vector<KernelCase> kernel_plan(const PlanLimits& limits);

/// Sizes of the arrays that copies and collectives are measured with: `least`, then doubling up to `most` (bytes).
std::vector<std::int64_t> doubling_sizes(std::int64_t least, std::int64_t most, int step = 1);

}  // namespace stepcast::measure
