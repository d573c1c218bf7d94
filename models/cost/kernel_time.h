#pragma once

#include <string>

#include "models/layers/kernels.h"
#include "scenario/gpu.h"
#include "scenario/software.h"

namespace stepcast::schedules {

/// Launches of one kernel, and what the host needs for each.
struct HostLaunches {
  std::int64_t count = 0;
  Time each{};
};

/// The work of one kernel, and the rate of the machine that its time is compared with.
struct KernelRating {
  std::string shape{};    ///< "2048 x 12288 x 1536"
  double flops = 0;       ///< that its multiplies count
  double bytes = 0;       ///< that it reads and writes, or sends
  double rated = 0;       ///< FLOP/s or bytes per second that the machine is rated at for it; 0: none
  bool by_bytes = false;  ///< `rated` is in bytes per second
  std::string source{};   ///< keys of the scenario that the rate comes from
};

/// One GPU running kernels of one precision under one framework: what each kernel costs.
struct KernelCost {
  const Gpu& gpu;
  const Software& software;
  Precision precision;
  std::uint32_t peers = 0;  ///< other tensor ranks whose hosts each collective among them waits for
  bool of_layer = false;    ///< which graphs of layers, or of what they are made of, capture
  double slowest = 1;       ///< how much longer multiplies take on the slowest of the job's GPUs than in the mean

  /// Whether the kernels are one CUDA graph, or part of one: no more than one launch, and the host waits for none.
  bool captured() const {
    return software.cuda_graphs == CudaGraphs::step || (of_layer && software.cuda_graphs == CudaGraphs::layers);
  }

  /// On the stream, the gap to the next kernel included. Traffic, which a machine times, takes none here.
  Time time(const Kernel& kernel) const;

  /// Of a kernel that follows `before` (none: it is the first). A compiler makes elementwise kernels that follow each
  /// other one.
  HostLaunches launch(const Kernel& kernel, const Kernel* before) const;

  /// Of traffic, what is known without a machine.
  KernelRating rating(const Kernel& kernel) const;

  /// Of the rates of kernels measured alone, what a running step has.
  double share_in_a_step() const;
  /// What a kernel that takes so long alone takes in a running step.
  Time in_a_step(Time alone) const;
  /// Likewise a multiply, whose clock is its GPU's own: on the slowest of the job's.
  Time multiply_in_a_step(Time alone) const;
};

/// How much longer multiplies take on the slowest of so many GPUs than in the mean: what is expected if their speeds
/// are normally distributed (Blom 1958: the largest of n is where the distribution has (n - 3/8) / (n + 1/4)).
double slowest_of(const Gpu& gpu, std::uint32_t gpus);

}  // namespace stepcast::schedules
