#pragma once

#include <vector>

#include "calibrate/bundle/bundle.h"
#include "calibrate/fit/fitted_model.h"
#include "schedules/cost/gpu.h"

namespace stepcast::calibrate {

/// What every kernel's time in a bundle includes besides its own: a launch from a graph, or what a pair of events reads
/// with nothing between, by the timer that was used; and the profile's kernel gap. Throws InputError where the bundle
/// has no such row: no kernel's own time is known.
struct Launches {
  Time overhead{};    ///< of one measured kernel
  FittedModel model;  ///< software.kernel_gap
};
Launches measured_launches(const Bundle& bundle);

/// Kernels bound by memory: t = overhead + ramp + bytes / (bandwidth x efficiency x share of the kernel). Streams
/// (copy, triad) set the ceiling and have share 1; the ramp is the roll-off at small sizes; every other kernel has a
/// share of its own. Cold rows only.
FittedModel fit_memory(const Bundle& bundle, const schedules::Gpu& gpu, Time overhead);

/// Multiplies of one precision by schedules/cost/gemm.h, all layouts and batches together.
FittedModel fit_multiplies(const Bundle& bundle, const schedules::Gpu& gpu, schedules::Precision precision,
                           Time overhead);

/// Nothing but notes: multiplies of precisions that the cost model does not have.
FittedModel other_multiplies(const Bundle& bundle);

/// Fused causal attention by schedules/cost/kernel.h: the share of the peak rate that it reaches.
FittedModel fit_attention(const Bundle& bundle, const schedules::Gpu& gpu, bool backward, Time overhead);

}  // namespace stepcast::calibrate
