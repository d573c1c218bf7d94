#pragma once

#include "models/layers/kernels.h"
#include "scenario/gpu.h"
#include "scenario/software.h"

namespace stepcast::schedules {

/// One GPU running kernels of one precision under one framework: what each kernel costs.
struct KernelCost {
  const Gpu& gpu;
  const Software& software;
  Precision precision;

  /// On the stream, the gap to the next kernel included. Traffic, which a machine times, takes none here.
  Time time(const Kernel& kernel) const;

  /// What a kernel that takes so long alone takes in a running step.
  Time in_a_step(Time alone) const;
};

}  // namespace stepcast::schedules
