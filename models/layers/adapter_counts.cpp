#include "models/layers/adapter_counts.h"

namespace stepcast::schedules {

int adapters(const Scenario& s, OperatorKind multiply) {
  if (!trains_adapters(s.training)) return 0;
  const LoraTargets& to = s.training.lora.targets;
  switch (multiply) {
    case OperatorKind::query_key_value:
      return to.query_key_value ? 1 : to.queries + to.keys + to.values;
    case OperatorKind::attention_projection:
      return to.projection;
    case OperatorKind::feed_forward_in:
    case OperatorKind::experts_in:
      return to.feed_forward_in ? 1 : to.gate + to.up;
    case OperatorKind::feed_forward_out:
    case OperatorKind::experts_out:
      return to.feed_forward_out;
    case OperatorKind::mixer_in:
      return to.mixer_in;
    case OperatorKind::mixer_out:
      return to.mixer_out;
    default:
      return 0;
  }
}

bool adapters_in_fp32(const Scenario& s) {
  return s.software.fp32_adapters && element_bytes(s.training.precision) < element_bytes(Precision::fp32);
}

bool adapters_have_own_inputs(const Scenario& s) {
  return trains_adapters(s.training) && (s.training.lora.dropout > 0 || adapters_in_fp32(s));
}

bool gathers_for_adapters(const Scenario& s) { return tensor_overlap(s) != TensorOverlap::none; }

}  // namespace stepcast::schedules
