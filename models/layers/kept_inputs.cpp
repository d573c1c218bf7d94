#include "models/layers/kept_inputs.h"

#include "models/layers/adapter_counts.h"
#include "models/layers/as_double.h"
#include "models/layers/low_precision.h"
#include "models/layers/stack_sizes.h"

namespace stepcast::schedules {

double kept_of_input(const Scenario& s, OperatorKind multiply) {
  if (!trains_adapters(s.training)) return kept_input_bytes(s);
  const double element = d(element_bytes(s.training.precision));
  const int beside = adapters(s, multiply);
  if (!adapters_have_own_inputs(s)) return beside > 0 ? element : 0;
  return beside * (element + (s.training.lora.dropout > 0 ? kMask : 0));
}

double kept_of_expert_input(const Scenario& s, OperatorKind multiply) {
  return trains_adapters(s.training) ? kept_of_input(s, multiply) : d(element_bytes(s.training.precision));
}

bool keeps_input_as_it_is(const Scenario& s, OperatorKind multiply) {
  if (!trains_adapters(s.training)) return !keeps_casts(s);
  return adapters(s, multiply) > 0 && !adapters_have_own_inputs(s);
}

}  // namespace stepcast::schedules
