#include "models/layers/autocast.h"

namespace stepcast::schedules {

bool autocasts(const Scenario& s) {
  const bool sixteen_bits = s.training.precision == Precision::fp16 || s.training.precision == Precision::bf16;
  const Autocast when = s.software.autocast;
  const bool asked = when == Autocast::yes || (when == Autocast::unsharded && s.data_parallel.zero == 0);
  return asked && sixteen_bits && !trains_adapters(s.training);
}

bool casts_apart(const Scenario& s) { return autocasts(s) && !s.software.fused_bias_dropout_add; }

std::int64_t residual_element(const Scenario& s) {
  return element_bytes(autocasts(s) ? Precision::fp32 : s.training.precision);
}

std::int64_t normed_element(const Scenario& s) {
  return element_bytes(casts_apart(s) ? Precision::fp32 : s.training.precision);
}

}  // namespace stepcast::schedules
