#pragma once

#include "models/layers/kernels.h"
#include "scenario/gpu.h"
#include "scenario/software.h"

namespace stepcast::schedules {

/// Launches of one kernel, and what the host needs for each.
struct HostLaunches {
  std::int64_t count = 0;
  Time each{};
};

/// One GPU running kernels of one precision under one framework: what each kernel costs.
struct KernelCost {
  const Gpu& gpu;
  const Software& software;
  Precision precision;
  std::uint32_t peers = 0;  ///< other tensor ranks whose hosts each collective among them waits for
  bool captured = false;    ///< the kernels are one CUDA graph: one launch

  /// On the stream, the gap to the next kernel included. Traffic, which a machine times, takes none here.
  Time time(const Kernel& kernel) const;

  /// Of a kernel that follows `before` (none: it is the first). A compiler makes elementwise kernels that follow each
  /// other one.
  HostLaunches launch(const Kernel& kernel, const Kernel* before) const;

  /// What a kernel that takes so long alone takes in a running step.
  Time in_a_step(Time alone) const;
};

}  // namespace stepcast::schedules
