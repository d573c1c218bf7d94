#pragma once

#include <optional>
#include <string>
#include <vector>

#include "calibrate/bundle/bundle.h"
#include "calibrate/fit/fitted_model.h"
#include "scenario/gpu.h"

namespace stepcast::calibrate {

/// What every kernel's time in a bundle includes besides its own. Rows from a cold cache stand between a pair of
/// events, as launch,event_pair does with an empty kernel; warm ones are replayed from a graph, as launch,graph (or
/// between events too, where the machine says timer events). That of the graph is also the gap from kernel to kernel.
struct Launches {
  std::optional<Time> event_pair, graph;
  bool graph_timer = true;
  FittedModel model;  ///< software.kernel_gap

  /// Of this row. Throws InputError where that launch was not measured: no time of the kernel's own is known.
  Time overhead(const KernelRow& row) const;
};
Launches measured_launches(const Bundle& bundle);

/// Kernels bound by memory: t = overhead + ramp + bytes / (bandwidth x efficiency x share of the kernel). Streams
/// (copy, triad) set the ceiling and have share 1; the ramp is the roll-off at small sizes; every other kernel has a
/// share of its own, by maker. Cold rows only.
FittedModel fit_memory(const Bundle& bundle, const schedules::Gpu& gpu, const Launches& launches);

/// cuBLASLt's multiplies of one precision by models/cost/gemm.h, all layouts and batches together.
FittedModel fit_multiplies(const Bundle& bundle, const schedules::Gpu& gpu, schedules::Precision precision,
                           const Launches& launches);

/// Nothing but notes: multiplies of precisions that the cost model does not have, and by others than cuBLASLt.
FittedModel other_multiplies(const Bundle& bundle);

/// Whose fused attention a bundle measured: "own" first, measured or not.
std::vector<std::string> makers_of_attention(const Bundle& bundle);

/// One maker's fused causal attention by models/cost/fused_attention.h: the share of the peak rate that it reaches,
/// over all head widths: kernels.MAKER.attention.forward, backward.
FittedModel fit_attention(const Bundle& bundle, const schedules::Gpu& gpu, const std::string& maker, bool backward,
                          const Launches& launches);

/// gpu.step_share: what a layer's work leaves of its burst rate after tens of seconds under the power limit.
FittedModel fit_sustained(const Bundle& bundle);

/// What the host needs for a launch, a collective, a checkpoint in PyTorch, eager and compiled: taken as measured.
FittedModel fit_host(const Bundle& bundle);

}  // namespace stepcast::calibrate
