#pragma once

#include <functional>
#include <vector>

#include "schedules/results/results.h"
#include "schedules/step/step.h"

namespace stepcast::schedules {

/// What the first rank of every stage did when, stage by stage, compute first; of a pipeline that never drains, what
/// lies within one step's time. Needs a step built with `trace`.
std::vector<Span> spans(const Step& step, const sim::Timeline& timeline);

/// The passes and the optimizer of the same ranks.
std::vector<PassSpan> passes(const Step& step, const sim::Timeline& timeline);

/// Each send of these ranks that a pass of them waits for.
std::vector<Arrow> arrows(const Step& step, const sim::Timeline& timeline);

/// How busy the links of their traffic beside compute are. `seconds_of_busiest`: how long a communication keeps the
/// busiest of its links busy.
std::vector<LinkPoint> link_use(const Step& step, const sim::Timeline& timeline,
                                const std::function<double(workload::CommunicationId)>& seconds_of_busiest);

}  // namespace stepcast::schedules
