#pragma once

#include <vector>

#include "calibrate/bundle/bundle.h"
#include "calibrate/fit/fitted_model.h"
#include "scenario/gpu.h"

namespace stepcast::calibrate {

/// Fits every model that a bundle has measurements of, collectives aside (transport_fit.h): launches, memory,
/// multiplies by precision, attention, copies, interference; in that order. `gpu` is what the machine's GPUs are until
/// now: its data-sheet rates are taken as they are, and its constants stand where the bundle does not tell one.
/// Multiplies are fitted with the streaming rate found. Throws InputError where the bundle does not tell the time of a
/// launch. Deterministic; seconds.
std::vector<FittedModel> fit_machine(const Bundle& bundle, const schedules::Gpu& gpu);

}  // namespace stepcast::calibrate
