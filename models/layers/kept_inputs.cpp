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
  if (s.training.lora.dropout > 0) return beside * (element + kMask);
  return adapters_in_fp32(s) ? beside * element : beside > 0 ? element : 0;
}

bool keeps_input_as_it_is(const Scenario& s, OperatorKind multiply) {
  if (!trains_adapters(s.training)) return !keeps_casts(s);
  return adapters(s, multiply) > 0 && s.training.lora.dropout == 0 && !adapters_in_fp32(s);
}

}  // namespace stepcast::schedules
