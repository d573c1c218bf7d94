#pragma once

#include "app/diff/side.h"
#include "app/report/answer.h"
#include "workload/machines.h"

namespace stepcast::app {

/// Forecasts a question and makes a side of a comparison of it, without its keys. `drawn`: with all that a page draws
/// of the step. Throws InputError where it cannot run, std::bad_alloc where memory ran out.
DiffSide forecast_side(Answer& answer, workload::Machines& machines, bool drawn);

}  // namespace stepcast::app
