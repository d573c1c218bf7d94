#pragma once

#include <vector>

#include "schedules/results/results.h"
#include "schedules/step/step.h"

namespace stepcast::schedules {

/// What the first rank of every stage did when, stage by stage, compute first; of a pipeline that never drains, what
/// lies within one step's time. Needs a step built with `trace`.
std::vector<Span> spans(const Step& step, const sim::Timeline& timeline);

/// The passes and the optimizer of the same ranks.
std::vector<PassSpan> passes(const Step& step, const sim::Timeline& timeline);

}  // namespace stepcast::schedules
