#pragma once

#include <optional>
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
/// share of its own. Cold rows only.
FittedModel fit_memory(const Bundle& bundle, const schedules::Gpu& gpu, const Launches& launches);

/// Multiplies of one precision by models/cost/gemm.h, all layouts and batches together.
FittedModel fit_multiplies(const Bundle& bundle, const schedules::Gpu& gpu, schedules::Precision precision,
                           const Launches& launches);

/// Nothing but notes: multiplies of precisions that the cost model does not have.
FittedModel other_multiplies(const Bundle& bundle);

/// Fused causal attention by models/cost/kernel.h: the share of the peak rate that it reaches.
FittedModel fit_attention(const Bundle& bundle, const schedules::Gpu& gpu, bool backward, const Launches& launches);

}  // namespace stepcast::calibrate
