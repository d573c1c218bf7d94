#pragma once

#include "tests/schedules/scenarios.h"

namespace stepcast::schedules {

inline constexpr double kElement = 2;  ///< bytes of bf16
inline constexpr std::uint32_t kTensor = 4;

/// A Llama on 4 tensor ranks that share the sequence out between the multiplies, 2 samples of 1024 tokens, fused
/// attention.
inline Scenario shared_sequence() {
  Scenario s = round_numbers(kTensor);
  s.model = {"llama", Family::llama, 4, 2048, 16, 16, 8192, 51200, ""};
  s.training = {.global_batch = 4, .micro_batch = 2, .sequence = 1024, .precision = Precision::bf16};
  s.training.attention = Attention::flash;
  s.parallelism.tensor = kTensor;
  s.parallelism.sequence = true;
  return s;
}

}  // namespace stepcast::schedules
