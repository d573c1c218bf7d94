#pragma once

#include <cstddef>

#include "models/layers/kernels.h"
#include "scenario/scenario.h"

namespace stepcast::schedules {

/// How many kernels of a layer's forward pass are run again where it is repeated. Software that stops early leaves out
/// the last multiply and what follows: its output is an input of nothing in the layer's backward pass, unless dropout
/// behind it has a mask, or a norm is behind it.
std::size_t end_of_repetition(const Scenario& scenario, const Kernels& forward);

}  // namespace stepcast::schedules
