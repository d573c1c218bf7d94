#pragma once

#include "models/layers/operator_kinds.h"
#include "scenario/scenario.h"

namespace stepcast::schedules {

/// Bytes that are kept of each element that enters a linear layer, by the kind of its multiply, for the gradients of
/// its weight or of its adapters', which read it as it was before its cast. With dropout, or behind casts to fp32 and
/// back, each adapter has an input of its own, and with dropout a mask.
double kept_of_input(const Scenario& scenario, OperatorKind multiply);

/// The same of a multiply of experts, of which nothing is kept as a cast.
double kept_of_expert_input(const Scenario& scenario, OperatorKind multiply);

/// Whether that is the very tensor that enters it.
bool keeps_input_as_it_is(const Scenario& scenario, OperatorKind multiply);

}  // namespace stepcast::schedules
