#pragma once

#include <span>
#include <vector>

#include "schedules/plan/memory.h"
#include "schedules/results/results.h"
#include "schedules/step/step.h"

namespace stepcast::schedules {

/// Memory of the first rank of every stage over a step, a point wherever it changes, stage by stage. What a forward
/// pass keeps is there from its start to the end of the pass that needs it last; what a pass works on, while it runs.
/// So the most of any stage is its peak. `stages`: by stage, what its activations take; the rest is that of its report.
std::vector<MemoryPoint> memory_points(const Step& step, const sim::Timeline& timeline, const Shape& shape,
                                       std::span<const ActivationSizes> sizes, std::span<const StageReport> reports);

}  // namespace stepcast::schedules
