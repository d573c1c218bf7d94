#pragma once

#include <string>

#include "calibrate/logs/step_trace.h"

namespace stepcast::app {

/// What the page of a comparison draws of a recorded step: the timeline, in the form of step_detail_json(). Requires
/// the trace's rows.
std::string recorded_detail_json(const calibrate::StepTrace& trace);

}  // namespace stepcast::app
