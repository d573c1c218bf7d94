#pragma once

#include "schedules/cost/gpu.h"
#include "schedules/model/transformer.h"
#include "schedules/software.h"

namespace stepcast::schedules {

/// One GPU running kernels of one precision under one framework: what each kernel costs.
struct KernelCost {
  const Gpu& gpu;
  const Software& software;
  Precision precision;

  /// On the stream, the gap to the next kernel included.
  Time time(const Gemm& kernel) const;
  Time time(const Convolution& kernel) const;
  Time time(const Elementwise& kernel) const;
  Time time(const FusedAttention& kernel) const;

  /// What a kernel that takes so long alone takes in a running step.
  Time in_a_step(Time alone) const;
};

}  // namespace stepcast::schedules
